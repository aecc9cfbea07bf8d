"""What the settings say about the terminal, for the app and for ``duetto doctor``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from tui.ui.terminal.facts import TerminalFacts, Wishes, find

if TYPE_CHECKING:
    from tui.engine.notices import Status
    from tui.engine.session import Session
    from tui.linear.conductor import Conductor
    from tui.settings import NotifySettings, ScreenSettings
    from tui.ui.terminal.terminal_app import TerminalApp


def facts_for(screen: ScreenSettings, environment: Mapping[str, str]) -> TerminalFacts:
    """The terminal of this environment, as the settings have it."""
    wishes = Wishes(screen.colours, screen.glyphs, screen.ambiguous, screen.background)
    return find(environment, wishes)


def tell_ends(app: TerminalApp, notify: NotifySettings, session: Session, root: Path) -> None:
    """Have it said outside of the window when a turn ends."""
    from tui.ui.terminal.notifying import Choices

    choices = Choices(notify.bell, notify.title, notify.desktop, notify.after_s, notify.prompt)
    app.notify_by(choices, root.name, lambda: _prompt(session))


def ring_ends(conductor: Conductor, notify: NotifySettings) -> None:
    """The bell of the linear mode; title and notification would be signs among the words."""
    from tui.ui.terminal.notifying import Choices, Herald, Moment

    herald = Herald(Choices(bell=notify.bell, desktop="off", after_s=notify.after_s), {})

    def rings(status: Status, now_s: float) -> bool:
        said = herald.state(Moment(status.busy, bool(status.asks), status.outcome), now_s)
        return bool(said or herald.remind(now_s))

    conductor.on_typed, conductor.rings = herald.typed, rings


def _prompt(session: Session) -> str:
    """The last one that the user sent."""
    said = (block for block in reversed(session.transcript.blocks) if block.kind == "user")
    block = next(said, None)
    return "" if block is None else block.text[:200]
