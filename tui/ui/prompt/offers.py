"""What can be put in at the cursor: commands, their arguments, files; best first."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain, islice
from typing import NamedTuple

from tui.core.fuzzy import Fit, Sieve, fit, folded, holds
from tui.engine.notices import Status
from tui.engine.slash import COMMANDS, find_command
from tui.ui import theme
from tui.ui.prompt.wishes import Wish, choices, placeholders, written

MOST = 100
"""Files that are offered."""


class Offer(NamedTuple):
    """One of them."""

    text: str
    """What is put in."""
    shown: str
    """What it is called in the list."""
    help: str = ""
    offsets: tuple[int, ...] = ()
    """Characters of ``shown`` that were typed."""
    more: bool = False
    """Something must follow: taking it is not enough."""


_WORDS: dict[tuple[str, str], str] = {
    ("effort", "low"): "answers soonest",
    ("effort", "xhigh"): "thinks longest",
    ("effort", "none"): "does not think, if the model can",
    ("throttle", "off"): "at the model's own speed",
    ("tier", "off"): "ask for none",
    ("diff", "disk"): "what is not saved",
    ("diff", "head"): "since the last commit",
    ("diff", "turn"): "since the turn began",
    ("auto", "on"): "hunks that need no look",
    ("auto", "off"): "every hunk is asked for",
    ("rescue", "forget"): "remove what was kept",
}
_RATES = {"50": "a model to delegate to", "150": "a quick one", "1000": "one to work with"}
_TIERS = {
    "priority": "faster, where it is sold",
    "fast": "",
    "ultrafast": "the fastest, and the dearest",
    "flex": "cheaper, and slower",
}


def command_offers(letters: str) -> list[Offer]:
    """Commands that have the letters; those that begin with them come first."""
    low = folded(letters)
    found: list[tuple[int, int, Offer]] = []
    for number, command in enumerate(COMMANDS):
        if not holds(low, command.name):
            continue
        one = fit(low, command.name)
        offsets = tuple(offset + 1 for offset in one.offsets)
        needs = bool(command.argument) and not command.argument.startswith("[")
        name = f"/{command.name}"
        offer = Offer(name, name, command.help, offsets, needs)
        score = 1000 if command.name.startswith(low) else one.score
        found.append((-score, number, offer))
    return [offer for *_, offer in sorted(found)]


def means(wish: Wish, offers: Sequence[Offer]) -> bool:
    """True if the letters begin the first offer and no other, and nothing else may be typed."""
    letters = folded(wish.letters)
    if wish.kind == "argument":
        command = find_command(wish.command)
        if not letters or command is None or placeholders(command, len(wish.before)):
            return False
    else:
        letters = f"/{letters}"
    begun = [offer for offer in offers if folded(offer.text).startswith(letters)]
    exact = any(folded(offer.text) == letters for offer in begun)
    return not exact and begun[:1] == list(offers[:1]) and len(begun) == 1


def argument_offers(wish: Wish, status: Status) -> list[Offer]:
    """What an argument may be: the words of the table, and what is known of the rest."""
    command = find_command(wish.command)
    if command is None:
        return []
    place = len(wish.before)
    words = {word: _WORDS.get((command.name, word), "") for word in choices(command, place)}
    for placeholder in placeholders(command, place):
        if source := _SOURCES.get((command.name, placeholder)):
            words = source(status) | words
    words |= {word: said for word, said in _now(command.name, status).items() if word in words}
    low = folded(wish.letters)
    fits = [fit(low, word) for word in words if holds(low, folded(word))]
    if low:
        fits.sort(key=lambda one: (not folded(one.text).startswith(low), -one.score))
    return [Offer(one.text, one.text, words[one.text], one.offsets) for one in fits]


def file_offers(wish: Wish, fits: Sequence[Fit]) -> list[Offer]:
    """Paths as they are put in."""
    return [
        Offer(written(one.text, sign=wish.sign, shell=wish.shell), one.text, "", one.offsets)
        for one in fits
    ]


def first_files(paths: Sequence[str], opened: Sequence[str]) -> list[Fit]:
    """Before a letter is typed: the open files, then all others."""
    known = set(opened)
    others = (path for path in paths if path not in known)
    return [Fit(path, 0) for path in islice(chain(opened, others), MOST)]


def sieve(wish: Wish, paths: Sequence[str]) -> Sieve:
    """What looks for the files."""
    return Sieve("".join(wish.letters.split()), paths)


def _themes(status: Status) -> dict[str, str]:
    return dict.fromkeys(theme.theme_names(), "") | {"auto": "as the terminal's background is"}


def _rates(status: Status) -> dict[str, str]:
    return _RATES


def _tiers(status: Status) -> dict[str, str]:
    return _TIERS


_SOURCES: dict[tuple[str, str], Callable[[Status], dict[str, str]]] = {
    ("theme", "NAME"): _themes,
    ("throttle", "TOKENS/S"): _rates,
    ("tier", "NAME"): _tiers,
}


def _now(command: str, status: Status) -> dict[str, str]:
    """What is said of words that stand for something that can be seen now."""
    if command == "theme":
        return {theme.active().name: "now"}
    if command == "model":
        return {
            role: (name or "none") + (" · answers now" if role == status.role else "")
            for role, name in status.models.items()
        }
    if command == "effort":
        return {effort: "now"} if (effort := status.efforts.get(status.role)) else {}
    if command == "tier":
        return {tier: "now"} if (tier := status.tiers.get(status.role)) else {}
    if command == "auto":
        return {"on" if status.auto_accept else "off": "now"}
    return {}
