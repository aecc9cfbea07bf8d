"""What ``duetto doctor`` finds on this machine: terminal, tmux, keys, status line, themes."""

from __future__ import annotations

import os
import select
import shutil
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Literal

from msgspec import Struct

from tui.cli.appearance import AUTO, line_complaints, place_of, unknown_theme, use_keys
from tui.cli.open_app import facts_for
from tui.core.inert_text import inert
from tui.core.programs import safe_path
from tui.errors import SettingsError
from tui.settings import (
    PROJECT_FILE,
    NotifySettings,
    Paths,
    ProjectSettings,
    ScreenSettings,
    Settings,
    load_project,
)
from tui.ui.terminal.facts import Replies, TerminalFacts
from tui.ui.terminal.input_stream import InputStream
from tui.ui.terminal.notifying import way

State = Literal["ok", "note", "fix", "unreachable"]
_MARKS: dict[State, str] = {"ok": "✓", "note": "·", "fix": "✗", "unreachable": "✗"}
_INDENT = " " * 21
_LEAST_COLUMNS = 50
"""In a narrower terminal there is no room beside the names: it breaks the lines itself."""


class CheckResult(Struct, frozen=True):
    """One line of the report."""

    check: str
    state: State
    text: str
    advice: str = ""
    """What to do, empty if nothing is to be done."""
    round_trip_ms: float | None = None
    facts: Mapping[str, object] | None = None
    """What is known of an endpoint, for programs."""

    def told(self, columns: int | None) -> str:
        """For people: what was found, and under it what to do, broken between words.

        ``columns`` of the terminal; None: it is none, and each is one line for grep.
        """
        told = _wrapped(f"{_MARKS[self.state]} {self.check:<18} ", inert(self.text), columns)
        advice = _wrapped(f"{_INDENT}→ ", inert(self.advice), columns) if self.advice else ""
        return f"{told}\n{advice}" if advice else told


def _wrapped(before: str, text: str, columns: int | None) -> str:
    if columns is None or columns < _LEAST_COLUMNS:
        return before + text
    return textwrap.fill(
        text,
        columns - 1,
        initial_indent=before,
        subsequent_indent=" " * max(len(before), len(_INDENT)),
        break_long_words=False,
        break_on_hyphens=False,
    )


ANSWER_S = 0.4
"""So long the terminal is waited for: also one at the other end of a slow line."""
_COLOURS = {"none": "none", "16": "16", "256": "256", "true": "16 million"}
_GLYPHS = {
    "unicode": "Unicode",
    "console": "letters, and the signs of a text console",
    "ascii": "ASCII only",
}
_UNUSABLE = ("", "dumb", "unknown")


def terminal_findings(
    environment: Mapping[str, str], screen: ScreenSettings, notify: NotifySettings
) -> Iterator[CheckResult]:
    """Size, colours, signs, background, and how the end of a turn is told."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        advice = "without one: duetto --linear, or duetto exec"
        yield CheckResult("terminal", "note", "stdin or stdout is not a terminal", advice)
        return
    facts = asked(facts_for(screen, environment))
    yield _size(environment, facts)
    yield CheckResult("signs", "ok", signs(facts))
    yield CheckResult("background", "ok", background(facts))
    yield _told(environment, notify)


def _size(environment: Mapping[str, str], facts: TerminalFacts) -> CheckResult:
    from tui.ui.screens.workbench import SMALLEST  # the whole screen: only doctor needs it here

    columns, rows = os.get_terminal_size(sys.stdout.fileno())
    term = environment.get("TERM", "")
    around = "".join(f", in {name}" for name in (facts.multiplexer,) if name)
    text = (
        f"{columns}x{rows}, TERM={term or '(not set)'}{around}{', over SSH' * facts.remote},"
        f" colours: {_COLOURS[facts.colours]} ({facts.why_colours})"
    )
    if columns < SMALLEST[0] or rows < SMALLEST[1]:
        return CheckResult("terminal", "fix", text, "enlarge it to {}x{} or more".format(*SMALLEST))
    if term in _UNUSABLE:
        return CheckResult("terminal", "fix", text, "set TERM to what your terminal is")
    return CheckResult("terminal", "ok", text)


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


def _told(environment: Mapping[str, str], notify: NotifySettings) -> CheckResult:
    kind = way(notify.desktop, environment)
    extras = [name for name in ("bell", "title") if getattr(notify, name)]
    ways = [*([f"desktop notification ({kind})"] if kind != "off" else []), *extras]
    if not ways:
        text = "nothing tells you of a long turn's end outside duetto"
        return CheckResult("notification", "ok", text)
    text = f"after {notify.after_s:g} s, when nobody looks: {', '.join(ways)}"
    return CheckResult("notification", "ok", text)


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
        tty.setcbreak(fd, termios.TCSADRAIN)
    except termios.error:
        return facts
    after = termios.TCSADRAIN
    try:
        if select.select([fd], [], [], 0)[0]:
            return facts  # somebody types to the shell already: those keys are not ours to read
        sys.stdout.write(f"{question}{replies.goodbye()}\x1b[c")
        sys.stdout.flush()
        if not _listen(fd, replies):
            after = termios.TCSAFLUSH  # what it answers later is not for the shell
    finally:
        with suppress(termios.error):
            termios.tcsetattr(fd, after, before)
    return replies.facts


def _listen(fd: int, replies: Replies) -> bool:
    """Until the answer to the last question, which every terminal knows; False: it did not come."""
    stream, until = InputStream(), time.monotonic() + ANSWER_S
    while (left_s := until - time.monotonic()) > 0:
        if not select.select([fd], [], [], left_s)[0]:
            break
        data = os.read(fd, 4096).decode("utf-8", "replace")
        for token in stream.feed(data, time.monotonic()):
            if not replies.take(token.text) and token.text.endswith("c"):
                return True
    return False


SLOW_ESC_MS = 50
_WAIT_S = 2.0
Ask = Callable[[str], str]
"""The value of a setting, empty if it cannot be had."""


def tmux_findings(environment: Mapping[str, str], ask: Ask | None = None) -> Iterator[CheckResult]:
    """What was found, none outside tmux; ``ask`` is tmux itself, unless given."""
    if not environment.get("TMUX"):
        return
    ask = ask or _value
    escape_ms, keys = ask("escape-time"), ask("extended-keys")
    clipboard, through = ask("set-clipboard"), ask("allow-passthrough")
    if not escape_ms:
        return
    text = f"escape-time {escape_ms} ms, extended-keys {keys}, set-clipboard {clipboard}"
    steps = []
    if not escape_ms.isdigit() or int(escape_ms) > SLOW_ESC_MS:
        steps.append("set -s escape-time 10 (Esc waits that long)")
    if keys == "off":
        steps.append("set -s extended-keys on (Shift+Enter is Enter without)")
    if ask("focus-events") == "off":
        steps.append("set -g focus-events on (who looks is guessed from the keys without)")
    if clipboard != "on" and through not in ("on", "all"):
        steps.append("set -s set-clipboard on (copying stays in duetto without)")
    if steps:
        yield CheckResult("tmux", "note", text, f"in tmux.conf: {'; '.join(steps)}")
    else:
        yield CheckResult("tmux", "ok", text)


def _value(name: str) -> str:
    program = shutil.which("tmux", path=safe_path(os.environ, os.getcwd()))
    scope = "-gqv" if name in ("allow-passthrough", "focus-events") else "-sqv"
    if program is None:
        return ""
    try:
        asked = subprocess.run(
            [program, "show-options", scope, name],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_WAIT_S,
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return asked.stdout.decode("utf-8", "replace").strip()[:40]


def own_key_findings(settings: Settings, file: Path) -> Iterator[CheckResult]:
    """What ``duetto doctor`` says of them; nothing where there are none."""
    if not settings.keys:
        return
    complaints = use_keys(settings, file)
    for complaint in complaints:
        yield CheckResult("keyboard", "fix", complaint, "docs/keys.md names all actions")
    from tui.ui.keymap import KEYMAP, key_name, rows
    from tui.ui.keys.spelling import needs_kitty
    from tui.ui.keys.table import SCOPES

    changed = [key for scope in SCOPES for key in rows(scope) if key not in KEYMAP]
    if not complaints:
        plural = "s have keys" if len(changed) != 1 else " has keys"
        yield CheckResult("keyboard", "ok", f"{len(changed)} action{plural} of your own")
    for key in changed:
        if key.keys and all(map(needs_kitty, key.keys)):
            names = ", ".join(map(key_name, key.keys))
            words = f"{names} ({key.name}) comes only from terminals with the Kitty protocol"
            yield CheckResult("keyboard", "note", words, "give it another key too, for the others")


def own_line_findings(settings: Settings, file: Path) -> Iterator[CheckResult]:
    """What ``duetto doctor`` says of it; nothing where there is none."""
    if settings.meter.line == "":
        return
    complaints = line_complaints(settings, file)
    for complaint in complaints:
        yield CheckResult("status line", "fix", complaint, "docs/meter.md names all fields")
    if not complaints:
        yield CheckResult("status line", "ok", "a template of your own")


def own_theme_findings(
    settings: Settings, folder: Path, paths: Paths, config: Path
) -> Iterator[CheckResult]:
    """What ``duetto doctor`` says of themes; nothing where all is well."""
    from tui.ui import theme

    try:
        project = load_project(folder)
    except SettingsError:  # said of the workspace
        project = ProjectSettings()

    theme.library.own_folder(paths.themes_dir)
    editor, names = settings.editor, ", ".join(theme.theme_names())
    asked = project.editor.theme
    if asked and (why := unknown_theme(asked)):
        yield CheckResult(
            "theme", "note", f"{folder / PROJECT_FILE} {why}", f"there are {names}; yours is used"
        )
    for key, name in (
        ("theme", editor.theme or AUTO),
        ("theme_light", editor.theme_light),
        ("theme_dark", editor.theme_dark),
    ):
        if why := unknown_theme(name, auto=key == "theme"):
            yield CheckResult(
                "theme", "fix", f"{place_of(config, key)} {why}", f"there are {names}"
            )
    for complaint in theme.library.complaints():
        name = Path(complaint.file).stem
        advice = f"the rest of it is used; duetto theme check {name} says more"
        yield CheckResult("theme", "fix", str(complaint), advice)
    for odd in theme.library.odd_names():
        text = f"{paths.themes_dir / odd} is not used: that cannot be a theme's name"
        yield CheckResult("theme", "note", text, "letters, digits, . _ - and at most 40")
