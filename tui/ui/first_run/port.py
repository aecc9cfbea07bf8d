"""What the first-run screen needs of the outside; `tui.cli.first_run` gives it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple, Protocol

State = Literal["looking", "found", "nothing", "odd"]
Choice = Literal["practice", "connected", "here", "look"]
"""The practice with the guide, a model was connected, this folder with the rehearsal, or nothing:
what lies under the screen stays."""


class FoundHere(NamedTuple):
    """One thing that was looked for on this machine."""

    name: str
    words: str
    state: State


class ModelSource(NamedTuple):
    """Somebody who could answer: a server on this machine, or a provider whose key is here."""

    name: str
    """The endpoint's name in config.toml."""
    title: str
    words: str
    """What is known of it."""
    models: tuple[str, ...] = ()
    """Those that it has named already; a provider is asked when it is chosen."""
    asks: str = ""
    """What choosing it sends, and where to; empty: nothing, its models are known."""


class Listed(NamedTuple):
    """What somebody said of its models."""

    models: tuple[str, ...]
    wrong: str = ""
    """Why there is no list, and what to do; empty if there is one."""


class Port(Protocol):
    """The outside of one first run."""

    config_file: str
    """Where the settings will lie, as people write paths."""
    here: str
    """The current folder, as people write paths; empty: it cannot be opened."""
    under: Literal["practice", "here"]
    """What lies under the screen."""

    async def look(self, tell: Callable[[FoundHere], None]) -> tuple[ModelSource, ...]:
        """Look around this machine; each thing is told as soon as it is known. Never raises."""

    async def models(self, source: ModelSource) -> Listed:
        """Ask for the list of models, with the key if it takes one. Never raises."""

    def config(self, source: ModelSource, fast: str, deep: str) -> str:
        """The text of the settings that connect it."""

    def write(self, text: str) -> str:
        """Write the settings; returns what is wrong, empty if they are written."""

    def choose(self, choice: Choice) -> None:
        """This is how it goes on when the screen is gone."""
