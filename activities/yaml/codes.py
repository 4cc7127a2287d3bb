"""What the reader refuses, by code: the meaning of each and what to do about it."""

from __future__ import annotations

from activities.yaml.code import Code

READER_CODES = (
    Code(
        "yaml.too-large", "the file is larger than the reader takes", "split the file or shorten it"
    ),
    Code("yaml.not-utf8", "the file is not valid UTF-8", "save the file as UTF-8"),
    Code(
        "yaml.syntax", "the YAML is not well formed", "check the punctuation and indentation here"
    ),
    Code("yaml.tab-indentation", "a tab indents this line", "indent with spaces"),
    Code("yaml.unclosed-quote", "a quoted value is never closed", "close the quote"),
    Code(
        "yaml.invalid-escape",
        "a backslash in double quotes begins no known escape",
        "use single quotes, or write the backslash twice",
    ),
    Code(
        "yaml.text-after-quote",
        "text follows the end of a quoted value",
        "put the whole value inside the quotes",
    ),
    Code(
        "yaml.colon-in-plain-value",
        "a plain value contains a colon and a blank",
        "quote the value",
    ),
    Code(
        "yaml.unexpected-end",
        "the file ends inside an open list or mapping",
        "complete the last item, or close the bracket",
    ),
    Code("yaml.duplicate-key", "a mapping has the same key twice", "keep one of the two"),
    Code("yaml.anchor", "anchors are not supported", "write the value in full where it is used"),
    Code(
        "yaml.alias",
        "aliases are not supported",
        "write the value in full where it is used, or quote it if it is text",
    ),
    Code("yaml.merge-key", "merge keys are not supported", "write the members in full"),
    Code(
        "yaml.tag", "tags and directives are not supported", "remove it; quote a value that is text"
    ),
    Code("yaml.non-string-key", "a key is not text", "quote the key"),
    Code(
        "yaml.multiple-documents",
        "the file holds more than one document",
        "keep one document in a file",
    ),
    Code(
        "yaml.ambiguous-number",
        "YAML versions read this number differently",
        "write a plain decimal number, or quote it if it is text",
    ),
    Code("yaml.too-deep", "values are nested too deeply", "flatten the structure"),
    Code(
        "yaml.control-character",
        "a control character stands here",
        "remove it; in double quotes an escape can stand for it",
    ),
    Code(
        "config.missing-envelope",
        "the file does not say what it is",
        "begin the file with `apiVersion` and `kind`",
    ),
    Code(
        "config.out-of-range", "the number is outside the range", "write a number inside the range"
    ),
    Code(
        "config.substitution-not-allowed",
        "a substitution such as `${NAME}` is not allowed in this file",
        "write the value itself; deployment settings belong into runtime.yaml",
    ),
)
"""Every code that the reader itself reports."""

REMEDIES = {one.code: one.remedy for one in READER_CODES}
"""Code -> what to do, where the place asks for nothing more special."""
