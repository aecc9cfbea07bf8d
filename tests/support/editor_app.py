"""An app of nothing but the editor pane, with duetto's own theme and styles."""

from __future__ import annotations

from pathlib import Path, PurePath
from typing import ClassVar

from textual.app import App, ComposeResult
from textual.binding import BindingType

import tui.ui
from tests.support.fake_session import FakeSession
from tui.engine.intents import OpenFile
from tui.ui import theme
from tui.ui.editor.pane import EditorPane

STYLES = Path(tui.ui.__file__).parent / "styles"


class EditorApp(App[None]):
    """One editor pane over a fake session."""

    CSS_PATH: ClassVar[list[str | PurePath]] = [
        STYLES / f"{name}.tcss" for name in ("editor_pane", "find", "pick_list")
    ]
    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = [
        ("ctrl+s", "pane('save')", ""),
        ("ctrl+o", "pane('open_file')", ""),
        ("alt+l", "pane('follow')", ""),
    ]
    """What the workbench does from everywhere."""

    def __init__(self, session: FakeSession, *paths: str) -> None:
        super().__init__()
        palette = theme.activate(theme.DEFAULT_THEME)
        self.register_theme(palette.textual_theme())
        self.theme = palette.name
        self.session = session
        self.pane = EditorPane(session)
        for path in paths:
            session.submit(OpenFile(path))

    def compose(self) -> ComposeResult:
        yield self.pane

    def action_pane(self, name: str) -> None:
        getattr(self.pane, f"action_{name}")()

    def on_mount(self) -> None:
        self.pane.focus_editor()
