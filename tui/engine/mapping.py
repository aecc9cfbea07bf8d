"""Tells a model which files of a large project matter: once a conversation, before a prompt.

The map is made in the background, from when the files are listed. It goes out as a note of the
conversation, which stays as it was said, so that what a provider's cache holds is not touched; one
that is not ready when the prompt leaves goes with the turn's next request.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from tui.core.conversation import History
from tui.core.instructions import MAP_NAME, MAP_TITLE, lists_all
from tui.engine.ports import ProjectMapper
from tui.engine.services import Services

if TYPE_CHECKING:
    from tui.core.project_map import Seeds

WINDOW_SHARE = 16
"""A map takes this part of a model's window at most."""
LEAST_TOKENS = 500
"""A smaller one says too little: none is made."""
WITHIN_S = 0.3
"""So long a prompt waits for files to be read; then what is known by then is the map."""
PATIENCE_S = 3.0
"""The same without a screen."""


class ProjectMapping:
    """Has the map made, and hands it out once."""

    def __init__(self, services: Services) -> None:
        ports = services.ports
        self._meter, self._rules = services.state.meter, ports.map_rules
        self._make, self._watched = ports.project_map, ports.watch is not None
        self._requests, self._supervisor = services.requests, services.supervisor
        self._open_files = services.open_files
        self._mapper: ProjectMapper | None = None
        self._listed: Sequence[str] = ()
        """The files that it knows of."""
        self._drawing: asyncio.Task[None] | None = None
        self._drawn = ""

    def begin(self) -> None:
        """Be asked and told from now on."""
        self._open_files.on_listed, self._open_files.on_changed = self.look, self.changed
        self._requests.take_map = self.take

    def take(self) -> str:
        """The map, if there is one that was not told; it is handed out once."""
        drawn, self._drawn = self._drawn, ""
        return drawn

    def changed(self, paths: Iterable[str]) -> None:
        """Somebody changed these files; none: any of them."""
        if self._mapper is not None:
            self._supervisor.start(self._mapper.change(sorted(paths)), "the map of the project")

    async def look(self, texts: Sequence[str]) -> None:
        """The files are listed: have them read, and the map drawn for what the user says.

        Returns soon, with the map or without it.
        """
        open_files = self._open_files
        tokens, paths = self._tokens(), open_files.catalogue.paths()
        if self._make is None or not tokens or not self._is_needed(paths):
            return
        if self._mapper is None:
            self._mapper = self._make()
            self._supervisor.start(_until_the_end(self._mapper), "the map of the project")
        if self._listed is not paths:
            self._listed = paths
            await self._mapper.list_files(paths)
        told = self._drawn or is_told(self._requests.history)
        told = told or MAP_NAME in self._requests.attachments.dropped
        if not texts or told or self._drawing is not None:
            return
        edited = {*open_files.workspace.hunk_list.paths()}
        shown = [path for path in open_files.paths_that_matter() if not open_files.privacy(path)]
        from tui.core.project_map import Seeds  # after the first paint

        seeds = Seeds("\n".join(texts), shown, sorted(edited & {*shown}))
        within_s = WITHIN_S if self._watched else PATIENCE_S
        drawing = self._draw(self._mapper, seeds, tokens, within_s)
        self._drawing = self._supervisor.start(drawing, "the map of the project")
        await asyncio.wait((self._drawing,), timeout=within_s * 1.5)

    async def _draw(
        self, mapper: ProjectMapper, seeds: Seeds, tokens: int, within_s: float
    ) -> None:
        history = self._requests.history
        try:
            drawn = await mapper.draw(seeds, tokens, within_s)
        finally:
            self._drawing = None
        if self._requests.history is history:  # else another conversation has begun
            self._drawn = drawn

    def _tokens(self) -> int:
        """That a map may have in this model's window; 0: there is no room for one."""
        window, tokens = self._meter.context_window, self._rules.tokens
        if window is not None:
            tokens = min(tokens, window // WINDOW_SHARE)
        return tokens if tokens >= LEAST_TOKENS else 0

    def _is_needed(self, paths: Sequence[str]) -> bool:
        when = self._rules.when
        return when == "on" or (when == "auto" and not lists_all(paths))


async def _until_the_end(mapper: ProjectMapper) -> None:
    """End what draws it with the session."""
    try:
        await asyncio.Event().wait()
    finally:
        await mapper.close()


def is_told(history: History) -> bool:
    """True if a map is in what a model of this conversation is sent."""
    return any(
        entry.kind == "note" and entry.text.startswith(MAP_TITLE) for entry in history.entries
    )
