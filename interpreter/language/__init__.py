"""The language of functions: a pure evaluator for the profile ``pure-rhai-1.26.1``.

The profile is the raw engine of Rhai 1.26.1 with the packages arithmetic, logic, basic string,
basic array, basic map and basic iterator, without closures, modules, ``eval``, ``print`` and
``debug``, under the limits of contract 3.1. A function can reach nothing but its arguments.
"""

from __future__ import annotations

from interpreter.language.bounds import check_bounds
from interpreter.language.errors import CompileError, EvaluationError, LanguageError, ValueLimit
from interpreter.language.limits import LANGUAGE_LIMITS
from interpreter.language.program import Evaluation, FunctionSignature, Program, compile_source
from interpreter.language.values import JsonValue

LANGUAGE_PROFILE = "pure-rhai-1.26.1"

__all__ = [
    "LANGUAGE_LIMITS",
    "LANGUAGE_PROFILE",
    "CompileError",
    "Evaluation",
    "EvaluationError",
    "FunctionSignature",
    "JsonValue",
    "LanguageError",
    "Program",
    "ValueLimit",
    "check_bounds",
    "compile_source",
]
