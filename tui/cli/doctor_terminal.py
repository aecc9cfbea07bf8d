"""What of the terminal was found out, and how: ``duetto doctor``."""

from __future__ import annotations

import os
import select
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress

from tui.cli.finding import Finding
from tui.cli.terminal_choices import facts_for
from tui.settings import NotifySettings, ScreenSettings
from tui.ui.terminal.facts import Replies, TerminalFacts
from tui.ui.terminal.input_stream import InputStream
from tui.ui.terminal.notifying import way

ANSWER_S = 0.4
"""So long the terminal is waited for: also one at the other end of a slow line."""
_COLOURS = {"none": "none", "16": "16", "256": "256", "true": "16 million"}
_GLYPHS = {
    "unicode": "Unicode",
    "console": "letters, and the signs of a text console",
    "ascii": "ASCII only",
}
_UNUSABLE = ("", "dumb", "unknown")


def findings(
    environment: Mapping[str, str], screen: ScreenSettings, notify: NotifySettings
) -> Iterator[Finding]:
    """Size, colours, signs, background, and how the end of a turn is told."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        advice = "without one: duetto --linear, or duetto exec"
        yield Finding("terminal", "note", "stdin or stdout is not a terminal", advice)
        return
    facts = asked(facts_for(screen, environment))
    yield _size(environment, facts)
    yield Finding("signs", "ok", signs(facts))
    yield Finding("background", "ok", background(facts))
    yield _told(environment, notify)


def _size(environment: Mapping[str, str], facts: TerminalFacts) -> Finding:
    from tui.ui.screens.workbench import SMALLEST  # the whole screen: only doctor needs it here

    columns, rows = os.get_terminal_size(sys.stdout.fileno())
    term = environment.get("TERM", "")
    around = "".join(f", in {name}" for name in (facts.multiplexer,) if name)
    text = (
        f"{columns}x{rows}, TERM={term or '(not set)'}{around}{', over SSH' * facts.remote},"
        f" colours: {_COLOURS[facts.colours]} ({facts.why_colours})"
    )
    if columns < SMALLEST[0] or rows < SMALLEST[1]:
        return Finding("terminal", "fix", text, "enlarge it to {}x{} or more".format(*SMALLEST))
    if term in _UNUSABLE:
        return Finding("terminal", "fix", text, "set TERM to what your terminal is")
    return Finding("terminal", "ok", text)


def signs(facts: TerminalFacts) -> str:
    """What can be drawn with, in words."""
    wide = "two cells wide" if facts.wide_ambiguous else "one cell wide"
    ambiguous = f"; signs of open width are {wide} ({facts.why_ambiguous})"
    if facts.why_ambiguous == "not asked":
        ambiguous = ""
    return f"{_GLYPHS[facts.glyphs]} ({facts.why_glyphs}){ambiguous}"


def background(facts: TerminalFacts) -> str:
    """Dark or light, and who says so."""
    if facts.dark is None:
        return "not known: taken to be dark ([screen] background says it)"
    return f"{'dark' if facts.dark else 'light'} ({facts.why_dark})"


def _told(environment: Mapping[str, str], notify: NotifySettings) -> Finding:
    kind = way(notify.desktop, environment)
    extras = [name for name in ("bell", "title") if getattr(notify, name)]
    ways = [*([f"desktop notification ({kind})"] if kind != "off" else []), *extras]
    if not ways:
        text = "the end of a long turn is not told of outside of duetto"
        return Finding("notification", "ok", text)
    text = f"after {notify.after_s:g} s, when nobody looks: {', '.join(ways)}"
    return Finding("notification", "ok", text)


def asked(facts: TerminalFacts) -> TerminalFacts:
    """The facts with what the terminal itself says within `ANSWER_S`."""
    try:
        import termios
        import tty
    except ImportError:  # Windows
        return facts
    replies = Replies(facts, lambda news: None)
    question = replies.questions(where="\r")
    if not question:
        return facts
    fd = sys.stdin.fileno()
    try:
        before = termios.tcgetattr(fd)
        tty.setcbreak(fd)
    except termios.error:
        return facts
    try:
        sys.stdout.write(f"{question}{replies.goodbye()}\x1b[c")
        sys.stdout.flush()
        _listen(fd, replies)
    finally:
        with suppress(termios.error):
            termios.tcsetattr(fd, termios.TCSAFLUSH, before)
    return replies.facts


def _listen(fd: int, replies: Replies) -> None:
    """Until the answer to the last question, which every terminal knows, or for a moment."""
    stream, until = InputStream(), time.monotonic() + ANSWER_S
    while (left_s := until - time.monotonic()) > 0:
        if not select.select([fd], [], [], left_s)[0]:
            return
        data = os.read(fd, 4096).decode("utf-8", "replace")
        for token in stream.feed(data, time.monotonic()):
            if not replies.take(token.text) and token.text.endswith("c"):
                return
