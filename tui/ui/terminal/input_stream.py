"""What a terminal sends, cut into keys, escape sequences and pastes wherever the reads split it.

An ESC byte is the Esc key or the beginning of a sequence; only what comes next tells. After
`ESC_S` without anything it is the key (vim and neovim wait 50 to 100 ms, crossterm not at all).
Whatever has begun, ESC and one more byte, nobody types by hand: it is waited for much longer, and
when the rest does not come it is dropped, never typed. And when the rest of a sequence comes after
its ESC was taken for the key, as over a slow line, it is put together again: ``[A`` in one read
just behind an Esc is the Up key, not text. What is longer than any sequence is let pass unread, to
its end or to the first pause. A terminal that speaks the Kitty protocol never sends
ESC for Esc: there the byte waits for its sequence.

A paste ends at its end marker, unless more of it lies behind: a clipboard may hold an end marker
to have the rest typed. No time is read here; callers give it, in seconds.
"""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

from tui.core.text.patterns import pattern

ESC = "\x1b"
ESC_S = 0.02
"""An ESC byte alone for so long is the Esc key."""
SURE_ESC_S = 0.5
"""The same where the terminal says Esc in another way."""
OPEN_S = 1.0
"""So long the rest of a sequence is waited for."""
LATE_S = 1.0
"""So long after an Esc its rest may come and make it a sequence."""
NEAR_S = 0.3
"""A lone ``[`` or ``O`` so soon after an Esc may be the second byte of a sequence..."""
HOLD_S = 0.15
"""...and is held back for so long."""
PASTE_S = 5.0
"""A paste of which nothing came for so long is over."""
TAIL_S, LONGEST_TAIL_S = 0.02, 0.5
"""So long the end of a paste is doubted, since the last byte and since the marker."""
SKIP_S = 0.05
"""So long a pause ends what is too long for a sequence and is let pass."""
MAX_CHARS = 256
MAX_REPLY_CHARS = 65536
PASTE_START, PASTE_END = "\x1b[200~", "\x1b[201~"

Kind = Literal["text", "escape", "sequence", "paste"]


class Token(NamedTuple):
    """One thing that was typed, pasted or reported."""

    kind: Kind
    text: str
    """``text``: as typed; ``sequence``: whole, from its ESC on; ``paste``: what lay between."""


_CSI = r"\[(?![\[M])[0-?]*[ -/]*[@-Z\\\]^-~]"
_TEXT_REPLY = r"\][0-9][^\x07\x1b]*(?:\x07|\x1b\\)|[PX^_][0-9!$+<=>?|][^\x1b]*\x1b\\"
_WHOLE = pattern(
    rf"\x1b(?:\[\[[A-E]|\[M[^\x1b]{{3}}|{_CSI}|O[0-9;]*[@-~]|{_TEXT_REPLY}|[^\x1b\[O\]PX^_])",
    re.DOTALL,
)
_OPEN_CSI = r"\[(?:\[|M[^\x1b]{0,2}|[0-?]*[ -/]*)|O[0-9;]*"
_OPEN_REPLY = r"\](?:[0-9][^\x07\x1b]*\x1b?)?|[PX^_](?:[0-9!$+<=>?|][^\x1b]*\x1b?)?"
_OPEN = pattern(rf"\x1b(?:{_OPEN_CSI}|{_OPEN_REPLY})?\Z", re.DOTALL)
_BROKEN = pattern(r"\x1b(?:\[\[?[0-?]*[ -/]*|O[0-9;]*|\][0-9][^\x07\x1b]*)")
_END_CSI = re.compile(r"[@-~]|(?=[\x00-\x1f\x7f])")
_END_REPLY = re.compile(r"\x07|\x1b\\|(?=\x1b)")
_LATE_REPLY = r"\][0-9]+;[^\x07\x1b]*(?:\x07|\x1b\\)|P[!$+>|0-9][^\x1b]*\x1b\\"
_LATE = pattern(
    r"\[(?:[A-FHIOP-SZ]|\[[A-E]|M...|[0-?]+\$?[A-FHP-SZ~umMtycnR])|O[A-DFHP-S]\Z|" + _LATE_REPLY,
    re.DOTALL,
)
"""The rest of what keyboards, mice and terminals send, without its ESC."""
_CUT = pattern(r"\[(?:<[0-9]|[0-9]+;)")
"""Nobody types this just behind an Esc: the rest of a sequence, of which the end is missing."""
_LATE_OPEN = pattern(r"(?:\[(?:\[|M.{0,2}|[0-?]*[ -/]*)|O)\Z", re.DOTALL)


class InputStream:
    """Takes what was read, gives tokens; `deadline` says when `expire` is due."""

    def __init__(self) -> None:
        self.deadline: float | None = None
        """When what is open is to be looked at again, in seconds; None: nothing is."""
        self.sure = False
        """The terminal has another word for Esc: an ESC byte always begins something."""
        self._open = ""
        """The beginning of a sequence; or held back, what may be the rest of one."""
        self._late_until = self._near_until = 0.0
        self._paste: list[str] | None = None
        """The pieces of a paste that has begun."""
        self._carry = ""
        """The end of the last piece, which may begin an end marker."""
        self._tail: str | None = None
        """What came behind an end marker, which may not be the end."""
        self._tail_until = 0.0
        self._skip: re.Pattern[str] | None = None
        """What ends the sequence that is let pass."""

    def feed(self, data: str, now: float) -> list[Token]:
        """Take what was read."""
        tokens: list[Token] = []
        if self._skip is not None:
            data = self._skipped(data, now)
            if self._skip is not None:
                return tokens
        self.deadline = None
        if self._tail is not None:
            data = self._doubt(data, now, tokens)
        elif self._paste is not None:
            data = self._pasted(data, now, tokens)
        if data:
            self._scan(self._joined(data, now), now, tokens)
        return tokens

    def expire(self, now: float) -> list[Token]:
        """What has waited long enough; call it at `deadline`."""
        if self.deadline is None or now < self.deadline:
            return []
        self.deadline = None
        tokens: list[Token] = []
        if self._tail is not None:
            rest, self._tail = self._tail, None
            self._end_paste(tokens)
            if rest:
                self._scan(rest, now, tokens)
        elif self._paste is not None:
            self._paste.append(self._carry)
            self._end_paste(tokens)
        else:
            self._give_up(now, tokens)
        return tokens

    def _give_up(self, now: float, tokens: list[Token]) -> None:
        """What began did not go on."""
        self._skip = None
        given, self._open = self._open, ""
        if given == ESC:
            self.sure = False  # another terminal may have taken the session over
            tokens.append(Token("escape", ESC))
            self._late_until, self._near_until = now + LATE_S, now + NEAR_S
        elif not given.startswith(ESC):
            if given and not _CUT.match(given):
                tokens.append(Token("text", given))
        elif len(given) == 2:
            tokens.append(Token("sequence", given))  # Alt with a bracket, or with O or P

    def _joined(self, data: str, now: float) -> str:
        """With what was open in front; with its ESC, if this is the late rest of a sequence."""
        held, self._open = self._open, ""
        data = held + data
        if held.startswith(ESC) or not (held or now < self._late_until):
            return data
        if _LATE.match(data):
            self._late_until = 0.0
            return ESC + data
        lone = len(data) == 1
        if _LATE_OPEN.match(data) and not (lone and now > self._near_until):
            self._open = data
            self.deadline = now + (HOLD_S if lone else OPEN_S)
            return ""
        self._late_until = 0.0
        return data

    def _scan(self, data: str, now: float, tokens: list[Token]) -> None:
        at, end = 0, len(data)
        while at < end:
            start = data.find(ESC, at)
            if start != at:
                tokens.append(Token("text", data[at:] if start < 0 else data[at:start]))
                if start < 0:
                    return
                at = start
            if found := _WHOLE.match(data, at):
                at = found.end()
                if found[0] == PASTE_START:
                    self._paste, self._carry = [], ""
                    data = self._pasted(data[at:], now, tokens)
                    at, end = 0, len(data)
                elif found[0] != PASTE_END:  # one without a start ends nothing
                    tokens.append(Token("sequence", found[0]))
            elif _OPEN.match(data, at):
                self._wait(data[at:], now)
                return
            else:
                at = self._broken(data, at, tokens)

    def _skipped(self, data: str, now: float) -> str:
        """What lies behind the sequence that is let pass."""
        assert self._skip is not None
        if self.deadline is None or now >= self.deadline:
            self._skip = None
            return data
        if found := self._skip.search(data):
            self._skip = None
            return data[found.end() :]
        self.deadline = now + SKIP_S
        return ""

    def _wait(self, begun: str, now: float) -> None:
        short = begun[1:2] in ("[", "O")
        if len(begun) >= (MAX_CHARS if short else MAX_REPLY_CHARS):
            self._skip, self.deadline = _END_CSI if short else _END_REPLY, now + SKIP_S
            return
        self._open = begun
        if begun == ESC:
            self.deadline = now + (SURE_ESC_S if self.sure else ESC_S)
        else:
            self.deadline = now + OPEN_S

    def _broken(self, data: str, at: int, tokens: list[Token]) -> int:
        """What stands there is no sequence; where to go on."""
        following = data[at + 1 : at + 2]
        if following in ("", ESC):
            tokens.append(Token("escape", ESC))
            return at + 1
        if found := _BROKEN.match(data, at):
            return found.end()
        tokens.append(Token("sequence", ESC + following))
        return at + 2

    def _pasted(self, data: str, now: float, tokens: list[Token]) -> str:
        """Take more of a paste; what lies behind it, once that is sure."""
        assert self._paste is not None
        data = self._carry + data
        end = data.find(PASTE_END)
        if end < 0:
            self._carry = _begun_marker(data)
            self._paste.append(data[: len(data) - len(self._carry)])
            self.deadline = now + PASTE_S
            return ""
        self._carry = ""
        self._paste.append(data[:end])
        self._tail, self._tail_until = "", now + LONGEST_TAIL_S
        return self._doubt(data[end + len(PASTE_END) :], now, tokens)

    def _doubt(self, data: str, now: float, tokens: list[Token]) -> str:
        """Behind an end marker: another one without a start makes it part of the paste."""
        assert self._paste is not None
        assert self._tail is not None
        rest = self._tail + data
        while (end := rest.find(PASTE_END)) >= 0 and PASTE_START not in rest[:end]:
            self._paste.append(rest[:end])
            rest = rest[end + len(PASTE_END) :]
        if PASTE_START in rest or now >= self._tail_until:
            self._tail = None
            self._end_paste(tokens)
            return rest
        self._tail = rest
        self.deadline = min(now + TAIL_S, self._tail_until)
        return ""

    def _end_paste(self, tokens: list[Token]) -> None:
        pieces, self._paste, self._carry = self._paste or [], None, ""
        tokens.append(Token("paste", "".join(pieces)))


def _begun_marker(data: str) -> str:
    """The longest end of the data that begins an end marker."""
    for size in range(min(len(PASTE_END) - 1, len(data)), 0, -1):
        if PASTE_END.startswith(data[-size:]):
            return data[-size:]
    return ""
