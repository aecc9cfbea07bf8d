"""Signs for terminals that have not all of Unicode: each as wide as the one it stands for.

A row is laid out before anybody knows the terminal, so nothing here changes a width. Only what is
written changes: the file in the editor and the text of the model stay what they are.
"""

from __future__ import annotations

import re
import unicodedata

from rich.cells import cell_len

_SAME = (
    ("─━┄┅┈┉╌╍═╴╶╸╺‐‑‒–—−⎯▄↔⇔•", "-"),
    ("│┇┋╎║╵╷╹╻▍▎▏▐▕", "|"),
    ("┌┍┎┏┐┑┒┓└┕┖┗┘┙┚┛├┝┞┟┠┡┢┣┤┥┦┧┨┩┪┫┬┭┮┯┰┱┲┳┴┵┶┷┸┹┺┻┼╋╬╔╗╚╝╠╣╦╩╭╮╰╯▆✓✔", "+"),
    ("▁⎽", "_"),
    ("▂·∙⋅░◌․", "."),
    ("▃▒∴∶┊", ":"),
    ("▅≈", "="),
    ("▇●◆✦★∗┃", "*"),
    ("█▊▋▉▓■▀▔", "#"),
    ("→▸▶►▷❯›»⇒↪↳⟩≥▌", ">"),
    ("←◂◀◄◃◁❮‹«⇐↶⏎⟨↩≤", "<"),
    ("↑▴▲⇧", "^"),
    ("↓▾▼⇩", "v"),
    ("↗╱", "/"),
    ("↘╲", "\\"),
    ("✗✘×╳✕", "x"),
    ("○◯◦◇", "o"),
    ("…⋯≋▹", "~"),
    ("↯⚑⚠", "!"),
    ("⊘∅", "0"),
    ("⌕┆", "?"),
    ("“”„", '"'),
    ("‘’‚", "'"),
    ("␊␍¶", "$"),
    ("Σ", "S"),
    ("\u00a0\u2007\u202f", " "),
    ("╏◐◑◒◓", "%"),
    ("✎", "@"),
)
_PICTURES = dict.fromkeys(range(0x2400, 0x2422), "^")
"""Of control characters."""
_SIGNS = _PICTURES | {ord(sign): stand_in for signs, stand_in in _SAME for sign in signs}
_CONSOLE = frozenset("─│┌┐└┘├┤┬┴┼═║█▄▌▐▀░▒▓·•×÷«»°±←→↑↓■")
"""What the fonts of PC consoles have."""
_RUNS = re.compile(
    "[\u200d\ufe00-\ufe0f\u2600-\u27bf\u2b00-\u2bff\U0001f000-\U0001faff\u231a-\u23ff]{2,}"
)
"""Signs that are drawn as one: families, flags, skin tones."""
_UNKNOWN = "?"


class Glyphs(dict[int, str]):
    """A table for `str.translate` that finds what it has not got yet."""

    def __init__(self, kind: str, *, wide_ambiguous: bool = False) -> None:
        """``kind``: ``unicode``, ``console`` or ``ascii``.

        ``wide_ambiguous``: signs that take two cells here are replaced, whatever the kind is.
        """
        super().__init__()
        self._kind = kind
        self._wide = wide_ambiguous

    def __missing__(self, code: int) -> str:
        """What is written for a character."""
        found = self[code] = self._for(chr(code))
        return found

    def text(self, text: str) -> str:
        """The text as it is written: as many cells as before."""
        if text.isascii():
            return text
        if self._kind != "unicode":
            text = _RUNS.sub(self._run, text)
        return text.translate(self)

    def _run(self, found: re.Match[str]) -> str:
        """Signs on end: one by one where they are no more than that."""
        run = found[0]
        if all(ord(sign) in _SIGNS for sign in run):
            return run
        return _UNKNOWN * cell_len(run)

    def _for(self, sign: str) -> str:
        code = ord(sign)
        if code < 128:
            return sign
        if self._kind == "unicode":
            open_width = self._wide and unicodedata.east_asian_width(sign) == "A"
            return _SIGNS.get(code, sign) if open_width else sign
        if self._kind == "console" and (sign in _CONSOLE or _is_letter(sign)):
            return sign
        return _SIGNS.get(code) or _ascii(sign)


def _is_letter(sign: str) -> bool:
    return unicodedata.category(sign)[0] in "LMN"


def _ascii(sign: str) -> str:
    """A letter without its accents, else a question mark a cell."""
    cells = cell_len(sign)
    plain = unicodedata.normalize("NFKD", sign).encode("ascii", "ignore").decode()
    return plain if len(plain) == cells and plain.isprintable() else _UNKNOWN * cells
