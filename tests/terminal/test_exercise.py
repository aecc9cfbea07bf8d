"""A whole exercise as a person plays it, with the real binary."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from tests.support.terminal import Terminal

ESC, F2, F5, ALT_A = "\x1b", "\x1bOQ", "\x1b[15~", "\x1ba"


def test_prompt_interrupt_redirect_accept_verify(
    start: Callable[..., Terminal], practice: Path
) -> None:
    term = start("practice")
    term.wait_for("Tab takes the suggestion")
    before = (practice / "ledger/cache.py").read_text()

    # the suggested prompt, at a rate that a busy machine can stop, and Esc when something lands
    term.type("/throttle 60\r")
    term.wait_for("throttled")
    term.type("\t")
    term.wait_for("❯ make the cache safe for threads")
    term.type("\r")
    term.wait_for("landing")
    term.type(ESC)
    term.wait_for(re.compile(r"stopped after ~?\d+ tokens"))
    term.wait_for("hunk")
    assert (practice / "ledger/cache.py").read_text() == before

    # another instruction; the model is told what was kept
    term.type("make the cache safe for threads, with a plain Lock\r")
    term.wait_for(re.compile(r"A plain Lock[\s\S]*Done\."))  # the first may have said so too
    term.wait_for("pending")

    accepted_and_judged(term, practice)


def accepted_and_judged(term: Terminal, practice: Path) -> None:
    # accepting writes the file
    term.type(ALT_A)
    term.wait_for("accepted")
    term.wait_gone("Alt+A")
    term.wait_for(lambda _: "threading.Lock()" in (practice / "ledger/cache.py").read_text())
    after = (practice / "ledger/cache.py").read_text()

    # the tests judge
    term.type(F5)
    term.wait_for(re.compile("✓ (tests )?passed"))
    term.leave()
    assert (practice / "ledger/cache.py").read_text() == after


def test_switching_in_the_middle_of_an_answer(start: Callable[..., Terminal]) -> None:
    term = start("practice")
    term.wait_for("Tab takes the suggestion")
    term.type(F2)
    term.wait_for("switched to deep")
    term.type("make the cache safe for threads\r")
    term.wait_for("landing")
    term.type(F2)
    term.wait_for("Done.")
    assert "fast" in term.text
