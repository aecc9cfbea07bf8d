"""The guided exercise as a person plays it, with the real binary."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tests.support.terminal import Terminal

ESC, F2, F5 = "\x1b", "\x1bOQ", "\x1b[15~"
ALT_A, ALT_N, ALT_S = "\x1ba", "\x1bn", "\x1bs"


def test_from_the_first_prompt_to_the_mended_mistake(
    start: Callable[..., Terminal], practice: Path
) -> None:
    term = start("practice", "--guide", size=(80, 24))
    term.wait_for("ask for a change")
    term.wait_for("takes the suggestion")
    term.type("\t")
    term.wait_for("❯ make the cache safe")
    term.wait_for("Enter sends it.")
    term.type("\r")
    term.wait_for("watch it land")
    term.wait_for("Esc stops it")
    term.type(ESC)
    term.wait_for("redirect it")
    before = (practice / "ledger/cache.py").read_text()
    assert "Lock" not in before
    term.wait_for("Tab takes the suggestion")
    term.type("\t")
    term.wait_for("❯ use a plain Lock")
    term.type("\r")
    term.wait_for("accepts all hunks")
    term.type(ALT_A)
    term.wait_for("let it run the tests")
    term.wait_for(lambda _: "threading.Lock()" in (practice / "ledger/cache.py").read_text())
    term.wait_for("❯ run the tests of money")
    term.type("\r")
    term.wait_for("It asks first")
    term.type(ALT_N)
    term.wait_for("Run it once")
    term.type("y")
    term.wait_for("change the model")
    term.wait_for("It asked before it ran anything.")
    term.wait_for("divmod(cents, people)")
    term.type(F2)
    term.wait_for("goes back to the first model")
    term.type(F2)
    term.wait_for("but wrong at first")
    term.type("\r")
    term.wait_for("tests what you see")
    term.type(F5)
    term.wait_for("has it mended")
    term.type(ALT_S)
    term.wait_for("That was the guide")
    term.wait_for("tests included")
    term.wait_for("own speed")
    term.wait_for("runs the tests")
    term.type(ESC)
    term.wait_gone("runs the tests")
    term.leave()
