"""Connecting a model: what the screen and the linear mode need of the outside, step by step.

Nothing is written before `ConnectPort.write`: who leaves before has left no trace.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from difflib import get_close_matches
from typing import Literal, NamedTuple, Protocol

from msgspec import Struct
from msgspec.structs import replace

from tui.engine.intents import Role
from tui.engine.ports import ModelOffer

State = Literal["looking", "found", "nothing", "odd"]
ROLES: tuple[Role, Role] = ("fast", "deep")
OTHER = ""
"""The name of a source that is none of the known ones: its address is typed."""


class FoundHere(NamedTuple):
    """One thing that was looked for on this machine."""

    name: str
    words: str
    state: State


class ModelSource(NamedTuple):
    """Somebody who could answer: a server on this machine, or a provider."""

    name: str
    """The endpoint's name in config.toml; `OTHER`: it gets one of its address."""
    title: str
    words: str
    """What is known of it."""
    models: tuple[ModelOffer, ...] = ()
    """Those that it has named already; a provider is asked when it is chosen."""
    asks: str = ""
    """What choosing it sends, and where to; empty: nothing, its models are known."""
    needs_key: bool = False
    """It wants one, and none was found."""
    needs_address: bool = False
    ready: bool = True
    """It can be chosen without being given anything."""


class Listed(NamedTuple):
    """What somebody said of its models."""

    models: tuple[ModelOffer, ...] = ()
    wrong: str = ""
    """Why there is no list, and what to do; empty if there is one."""
    field: Literal["", "key", "address"] = ""
    """What was typed wrong; empty: it is not about that."""
    is_typed: bool = False
    """It gives no list: the model's name is typed."""


class Connecting(Struct, frozen=True):
    """What was chosen so far."""

    source: ModelSource
    url: str = ""
    key: str = ""
    models: tuple[tuple[Role, str], ...] = ()
    """The roles that get a model of this source; others stay as they are."""

    def __repr__(self) -> str:
        return f"Connecting({self.source!r}, {self.url!r})"  # never the key

    def with_model(self, role: Role, model: str) -> Connecting:
        """The same, with a model for a role; an empty one leaves the role as it is."""
        others = tuple(one for one in self.models if one[0] != role)
        return replace(self, models=(*others, (role, model)) if model else others)


class Measured(NamedTuple):
    """One short answer of a model; all None and no word: it is waited for."""

    model: str
    ttft_s: float | None = None
    tokens_s: float | None = None
    tokens: int = 0
    wrong: str = ""
    is_counted: bool = False
    """The server counted the tokens; else they are an estimate."""

    @property
    def is_over(self) -> bool:
        """It has answered, or will not."""
        return bool(self.wrong) or self.tokens_s is not None or self.ttft_s is not None

    @property
    def words(self) -> str:
        """What there is to say of it."""
        if self.wrong:
            return self.wrong
        if self.ttft_s is None:
            return "waiting for its first token…"
        rate = "too short to tell" if self.tokens_s is None else f"{self.tokens_s:,.0f} tokens/s"
        return f"first token after {self.ttft_s * 1000:,.0f} ms, then {rate} ({self.tokens} tokens)"


class PlannedLine(NamedTuple):
    """A line of the settings file."""

    sign: Literal[" ", "+", "-"]
    text: str


class Plan(NamedTuple):
    """What will be written."""

    lines: tuple[PlannedLine, ...]
    """What changes, with the lines around it; without any nothing does."""
    key: str = ""
    """Where the key goes, in words; empty: there is none to keep."""
    wrong: str = ""
    """Why the settings cannot be changed."""
    by_hand: str = ""
    """The tables to write by hand then."""


class ConnectOutcome(NamedTuple):
    """What came of it."""

    endpoint: str = ""
    """The name that the source has in the settings."""
    wrong: str = ""
    """Nothing was written, and why."""
    notes: tuple[str, ...] = ()
    """What the user has to know, a sentence or a line to copy each."""
    kept: bool = True
    """False: the key is not kept for the next start."""


class ConnectPort(Protocol):
    """The outside of connecting (cli.connecting)."""

    config_file: str
    """The settings file, as people write paths."""

    async def look(self, tell: Callable[[FoundHere], None]) -> tuple[ModelSource, ...]:
        """Who could answer; what is found is told as soon as it is known. Never raises."""

    async def models(self, chosen: Connecting) -> Listed:
        """Ask for the list of models, with the key. Never raises."""

    async def test(self, chosen: Connecting, tell: Callable[[Measured], None]) -> None:
        """Have each chosen model give a short answer, one after the other. Never raises."""

    async def plan(self, chosen: Connecting) -> Plan:
        """What `write` would write. Never raises."""

    async def write(self, chosen: Connecting) -> ConnectOutcome:
        """Keep the key, change the settings. Never raises; what is wrong has changed nothing."""


def named_source(name: str, sources: Sequence[ModelSource]) -> Connecting | str:
    """Who is meant by a name, or a server by its address; a str says that nobody is."""
    typed = name.casefold()
    for one in sources:
        if one.name and typed in (one.name.casefold(), one.title.casefold()):
            return Connecting(one)
    if any(mark in name for mark in ":/."):
        return Connecting(ModelSource(OTHER, name, "", needs_address=True), url=name)
    known = [one.name for one in sources if one.name]
    near = sorted((one for one in known if typed in one), key=lambda one: one.find(typed))
    near = near or get_close_matches(typed, known, 3, 0.7)
    hint = f"Did you mean {' or '.join(near[:3])}?" if near else f"There are {', '.join(known)}."
    return f"There is no provider {name}. {hint}"


def key_wrong(key: str) -> str:
    """What is wrong with a key as it was typed; empty: nothing that can be seen."""
    if not key:
        return "Type or paste the key."
    if len(key) > _LONGEST_KEY or not key.isascii() or not key.isprintable() or " " in key:
        return "That is not a key: it has spaces, line breaks or odd characters."
    return ""


_LONGEST_KEY = 8192
