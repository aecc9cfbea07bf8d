"""``/stats``: what the turns that are kept say of speed, shown when it is read."""

from __future__ import annotations

from typing import ClassVar

from textual.app import App
from textual.content import Content

from tui.core.cycles import CycleReport
from tui.core.inert_text import inert
from tui.engine.feeling import CONSENT
from tui.engine.ports import SessionArchive
from tui.engine.session import Session
from tui.engine.stats_words import sections, since_asked
from tui.errors import StoreRefused
from tui.ui.screens.status import INDENT, Parts, StatusScreen, paragraph


class StatsScreen(StatusScreen):
    """As the status screen: it scrolls and can be copied."""

    ABOUT: ClassVar[str] = "stats"

    def __init__(self, session: Session, archive: SessionArchive, wanted: str) -> None:
        """``wanted``: from when on."""
        super().__init__(session)
        self._archive, self._wanted = archive, wanted
        self._found: CycleReport | str = "looking…"

    def on_mount(self) -> None:
        """Ask the store."""
        super().on_mount()
        self.run_worker(self._read(), name="statistics")

    async def _read(self) -> None:
        since_ms = since_asked(self._wanted)
        try:
            found: CycleReport | str = str(since_ms)
            if isinstance(since_ms, int):
                found = await self._archive.stats(since_ms)
        except StoreRefused as error:
            found = str(error)
        self._found = found
        self.look()

    def report(self, width: int) -> Content:
        """What is shown in rows of ``width`` cells."""
        found = self._found
        if isinstance(found, str):
            return Content.assemble(*paragraph(inert(found), "$muted", width)).rstrip("\n")
        parts: Parts = []
        for section in sections(found, width - len(INDENT)):
            parts.append((f"{section.title}\n", "bold $accent"))
            for line in section.lines:
                parts += paragraph(inert(line), "$foreground", width)
            parts.append(("\n", ""))
        if self._session.feeling.asks is None:
            parts += paragraph(CONSENT, "$muted", width)
        return Content.assemble(*parts).rstrip("\n")


def show(app: App[int], session: Session, wanted: str) -> None:
    """Show them from then on."""
    if session.archive is None:
        app.notify("No sessions are kept here.", severity="warning")
    else:
        app.push_screen(StatsScreen(session, session.archive, wanted))
