"""What is said outside of duetto's screen: bell, window title, notification, clipboard.

Bell and title are off unless wanted. A notification is sent when a turn has taken long and nobody
is looking. Nothing of the prompt is in it, unless wanted, and nothing in it acts on the terminal.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from typing import Literal, NamedTuple

from tui.core.inert_text import inert

_SCREEN_PIECE = 700
"""GNU screen drops a wrapped string that is longer than 768."""


def wrapped(said: str, environment: Mapping[str, str]) -> str:
    """The same, wrapped as whatever lies in between hands it on."""
    if environment.get("TMUX"):
        doubled = said.replace("\x1b", "\x1b\x1b")
        return f"\x1bPtmux;{doubled}\x1b\\"
    if environment.get("STY"):
        pieces = range(0, len(said), _SCREEN_PIECE)
        return "".join(f"\x1bP{said[at : at + _SCREEN_PIECE]}\x1b\\" for at in pieces)
    return said


Desktop = Literal["auto", "osc9", "osc777", "off"]
AWAY_S = 30.0
"""Where the terminal does not tell of its focus: without a key for so long nobody is looking."""
_MOST_CHARS = 80
_PROGRAMS: dict[str, Desktop] = {
    "iTerm.app": "osc9",
    "iTerm2": "osc9",
    "WarpTerminal": "osc9",
    "WezTerm": "osc777",
    "ghostty": "osc777",
}
_VARIABLES: dict[str, Desktop] = {
    "KITTY_WINDOW_ID": "osc9",
    "ITERM_SESSION_ID": "osc9",
    "WEZTERM_PANE": "osc777",
    "GHOSTTY_RESOURCES_DIR": "osc777",
    "VTE_VERSION": "osc777",
}
"""They are seen from inside tmux too."""
_TERMS: tuple[tuple[str, Desktop], ...] = (
    ("xterm-kitty", "osc9"),
    ("xterm-ghostty", "osc777"),
    ("foot", "osc777"),
    ("rxvt", "osc777"),
)


class NotifyOptions(NamedTuple):
    """``[notify]`` of the settings."""

    bell: bool = False
    title: bool = False
    desktop: Desktop = "auto"
    after_s: float = 15.0
    """Turns that end sooner are not told of."""
    prompt: bool = False
    """The beginning of the prompt stands in the notification."""


class Moment(NamedTuple):
    """The state of the session that matters here."""

    busy: bool
    asks: bool = False
    """It waits for a yes or a no."""
    outcome: str = ""
    """How the last turn ended."""


class Notifier:
    """Told of states and of who is looking; gives what to write to the terminal."""

    def __init__(
        self, choices: NotifyOptions, environment: Mapping[str, str], place: str = ""
    ) -> None:
        """``environment`` says which terminal it is; ``place`` is the workspace's name."""
        self.prompt: Callable[[], str] = str
        """The prompt of the turn, asked for where it is wanted."""
        self._place = inert(place)
        self._choices = choices
        self._environment = environment
        self._kind = way(choices.desktop, environment)
        self._focused: bool | None = None
        self._key_s = self._began_s = 0.0
        self._last = Moment(busy=False)
        self._owed = False
        """A question came when it was too early to tell of it."""
        self._called = False
        """In this turn, and nobody came."""
        self._titled = False

    def looking(self, focused: bool) -> None:
        """The window got or lost the focus."""
        self._focused = focused
        self._called = self._called and not focused
        self._owed = self._owed and not focused

    def typed(self, now_s: float) -> None:
        """A key was pressed: somebody is there."""
        self._key_s, self._called = now_s, False

    def state(self, moment: Moment, now_s: float) -> str:
        """The session's state now; what to write, mostly nothing."""
        last = self._last
        if moment.busy == last.busy and moment.asks == last.asks:
            return ""
        self._last = moment
        self._owed = moment.asks and not self._focused and (self._owed or not last.asks)
        if moment.busy and not last.busy:
            self._began_s, self._called = now_s, False
        said = self._title(moment)
        if moment.asks:
            return said + self.remind(now_s)
        long = now_s - self._began_s >= self._choices.after_s
        if moment.busy or not last.busy or not long or self._is_seen(now_s):
            return said
        return said + self._call()

    def remind(self, now_s: float) -> str:
        """What to write of a question that waits, once nobody has come for so long."""
        if not self._owed or self.again_s(now_s) or self._is_seen(now_s):
            return ""
        self._owed = False
        return self._call()

    def again_s(self, now_s: float) -> float:
        """In how many seconds to ask `remind` again; 0: there is nothing to wait for."""
        if not self._owed:
            return 0.0
        due_s = self._began_s + self._choices.after_s
        if self._focused is None:
            due_s = max(due_s, self._key_s + AWAY_S)
        return max(0.0, due_s - now_s)

    def _call(self) -> str:
        if self._called:
            return ""
        self._called = True
        return ("\x07" if self._choices.bell else "") + self._notification(self._last)

    def goodbye(self) -> str:
        """What gives the window's title back; empty if it was never changed."""
        titled, self._titled = self._titled, False
        return "\x1b[23;2t" if titled else ""

    def _is_seen(self, now_s: float) -> bool:
        if self._focused is not None:
            return self._focused
        return now_s - self._key_s < AWAY_S

    def _title(self, moment: Moment) -> str:
        if not self._choices.title:
            return ""
        kept = "" if self._titled else "\x1b[22;2t"
        self._titled = True
        place = f"{self._place}, " if self._place else ""
        words = _clipped(f"duetto: {place}{_state(moment)}")
        return f"{kept}\x1b]2;{words}\x07"

    def _notification(self, moment: Moment) -> str:
        if self._kind == "off":
            return ""
        words = f"{_state(moment)[:1].upper()}{_state(moment)[1:]}."
        if self._choices.prompt:
            words += f" {inert(' '.join(self.prompt().split()))}"
        words = _clipped(words)
        if self._kind == "osc9":
            return wrapped(f"\x1b]9;duetto: {words}\x07", self._environment)
        return wrapped(f"\x1b]777;notify;duetto;{words.replace(';', ',')}\x07", self._environment)


def _clipped(words: str) -> str:
    words = words.rstrip()
    return words if len(words) <= _MOST_CHARS else f"{words[: _MOST_CHARS - 3]}..."


def _state(moment: Moment) -> str:
    if moment.asks:
        return "waiting for your answer"
    if moment.busy:
        return "a turn is running"
    words = {"failed": "the turn failed", "interrupted": "the turn was stopped"}
    return words.get(moment.outcome, "the turn is done")


def way(wish: Desktop, environment: Mapping[str, str]) -> Desktop:
    """How this terminal takes a notification; ``off``: not that anybody knows."""
    if wish != "auto":
        return wish
    for name in ("TERM_PROGRAM", "LC_TERMINAL"):
        if found := _PROGRAMS.get(environment.get(name, "")):
            return found
    for name, kind in _VARIABLES.items():
        if environment.get(name):
            return kind
    term = environment.get("TERM", "")
    return next((kind for begins, kind in _TERMS if term.startswith(begins)), "off")


MOST_BYTES = 74_994
"""Of the text: xterm and hterm take 100,000 characters of base64."""


def copying(text: str, environment: Mapping[str, str]) -> str:
    """What to write to the terminal so that it takes the text; empty: it is too long for that."""
    data = _encoded(text)
    if len(data) > MOST_BYTES:
        return ""
    asking = f"\x1b]52;c;{base64.b64encode(data).decode()}\x07"
    through = wrapped(asking, environment)
    return f"{asking}{through}" if environment.get("TMUX") else through


def too_long(text: str) -> str:
    """What to say of a text that the terminal does not take."""
    size = len(_encoded(text))
    return (
        f"{size:,} bytes are too many for the terminal's clipboard ({MOST_BYTES:,});"
        " Ctrl+V in duetto pastes them."
    )


def _encoded(text: str) -> bytes:
    """UTF-8; bytes of a file that was none as they were, halves of a pair as question marks."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace")
