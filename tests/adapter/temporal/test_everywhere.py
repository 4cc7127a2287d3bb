"""No process of a deployment connects to Temporal but with the sealing converter."""

from __future__ import annotations

import ast

from tests.house.places import PACKAGES, python_files, tree


def test_one_place_connects_to_temporal_and_it_seals() -> None:
    connecting = {
        str(path)
        for path in python_files(*PACKAGES)
        for call in ast.walk(tree(path))
        if isinstance(call, ast.Call) and ast.unparse(call.func) == "Client.connect"
    }
    # The embedded server's own client waits until it answers, and sends nothing.
    assert connecting == {"adapter/temporal/client.py", "adapter/embedded/temporal.py"}


def test_one_place_makes_converters_and_they_have_a_codec() -> None:
    made = [
        (str(path), {keyword.arg for keyword in call.keywords})
        for path in python_files(*PACKAGES)
        for call in ast.walk(tree(path))
        if isinstance(call, ast.Call)
        and ast.unparse(call.func) in ("DataConverter", "SealedConverter")
    ]
    assert [path for path, _ in made] == ["adapter/temporal/payloads.py"]
    assert "payload_codec" in made[0][1]
