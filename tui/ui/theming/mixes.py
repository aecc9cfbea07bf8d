"""Every colour that a theme may set, and how it is mixed where the theme does not.

The colour ``pending`` of ``[hunk]`` is ``$hunk-pending`` in tcss and ``"hunk-pending"`` for
`Palette.style`; those of ``[palette]`` have no prefix.
"""

from __future__ import annotations

from tui.ui.theming.contrast import mixed

REQUIRED = ("background", "foreground", "accent")
"""The palette colours from which all others can be mixed."""
SECTIONS = ("palette", "syntax", "hunk", "meter")
"""The tables of colours in a theme's file."""

MIXES: dict[str, tuple[str, str, float]] = {
    # name: (from, towards, share); resolved in this order, so later rows may use earlier ones
    "surface": ("background", "foreground", 0.03),
    "panel": ("background", "foreground", 0.07),
    "line": ("background", "foreground", 0.18),
    "raised": ("background", "foreground", 0.16),
    "muted": ("foreground", "background", 0.40),
    "faint": ("foreground", "background", 0.62),
    "selection": ("background", "accent", 0.30),
    "cursor": ("accent", "accent", 0.0),
    "you": ("accent", "accent", 0.0),
    "fast": ("accent", "accent", 0.0),
    "deep": ("accent", "foreground", 0.4),
    "success": ("accent", "accent", 0.0),
    "warning": ("accent", "foreground", 0.3),
    "error": ("accent", "foreground", 0.1),
    "syntax-text": ("foreground", "foreground", 0.0),
    "syntax-comment": ("faint", "foreground", 0.0),
    "syntax-keyword": ("deep", "deep", 0.0),
    "syntax-string": ("success", "success", 0.0),
    "syntax-escape": ("fast", "fast", 0.0),
    "syntax-number": ("fast", "fast", 0.0),
    "syntax-constant": ("syntax-number", "syntax-number", 0.0),
    "syntax-function": ("accent", "accent", 0.0),
    "syntax-type": ("accent", "foreground", 0.3),
    "syntax-builtin": ("syntax-function", "syntax-function", 0.0),
    "syntax-decorator": ("warning", "warning", 0.0),
    "syntax-variable": ("syntax-text", "syntax-text", 0.0),
    "syntax-attribute": ("syntax-function", "syntax-function", 0.0),
    "syntax-tag": ("syntax-keyword", "syntax-keyword", 0.0),
    "syntax-operator": ("muted", "foreground", 0.3),
    "syntax-punctuation": ("muted", "foreground", 0.2),
    "syntax-heading": ("accent", "accent", 0.0),
    "syntax-inserted": ("success", "success", 0.0),
    "syntax-deleted": ("error", "error", 0.0),
    "syntax-error": ("error", "error", 0.0),
    "hunk-landing": ("fast", "fast", 0.0),
    "hunk-pending": ("accent", "accent", 0.0),
    "hunk-accepted": ("success", "success", 0.0),
    "hunk-struck": ("error", "error", 0.0),
    "hunk-partial": ("warning", "warning", 0.0),
    "hunk-conflict": ("error", "error", 0.0),
    "hunk-candidate": ("deep", "deep", 0.0),
    "hunk-added": ("hunk-accepted", "hunk-accepted", 0.0),
    "hunk-landing-line": ("background", "hunk-landing", 0.16),
    "hunk-pending-line": ("background", "hunk-pending", 0.11),
    "hunk-accepted-line": ("background", "hunk-accepted", 0.09),
    "hunk-struck-line": ("background", "hunk-struck", 0.13),
    "hunk-partial-line": ("background", "hunk-partial", 0.13),
    "hunk-conflict-line": ("background", "hunk-conflict", 0.18),
    "hunk-candidate-line": ("background", "hunk-candidate", 0.14),
    "hunk-added-line": ("background", "hunk-added", 0.11),
    "hunk-added-word": ("background", "hunk-added", 0.30),
    "hunk-struck-word": ("background", "hunk-struck", 0.34),
    "meter-rate": ("fast", "fast", 0.0),
    "meter-spark": ("fast", "background", 0.25),
    "meter-scale": ("faint", "faint", 0.0),
    "meter-mark": ("fast", "fast", 0.0),
    "meter-delegate": ("deep", "deep", 0.0),
    "meter-collaborate": ("fast", "fast", 0.0),
    "meter-ghost": ("muted", "muted", 0.0),
    "meter-online": ("success", "success", 0.0),
    "meter-offline": ("error", "error", 0.0),
}
"""Name -> from, towards, share of the way."""


def completed(colours: dict[str, str]) -> dict[str, str]:
    """The colours with what is missing mixed from what is there; `REQUIRED` must be there."""
    whole = dict(colours)
    for name, (start, towards, share) in MIXES.items():
        if name not in whole:
            whole[name] = mixed(whole[start], whole[towards], share)
    return whole


def is_colour(name: str) -> bool:
    """Whether a theme may set a colour of this full name."""
    return name in MIXES or name in REQUIRED


def names_of(section: str) -> list[str]:
    """The names that a table of a theme's file may set."""
    if section == "palette":
        plain = [name for name in MIXES if not name.startswith(_PREFIXES)]
        return [*REQUIRED, *plain]
    prefix = f"{section}-"
    return [name.removeprefix(prefix) for name in MIXES if name.startswith(prefix)]


_PREFIXES = tuple(f"{section}-" for section in SECTIONS if section != "palette")
