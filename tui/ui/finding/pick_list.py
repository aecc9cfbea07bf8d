"""A list under a field: what fits the letters that are typed, one a row, one of them lit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Generic, TypeVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.message import Message
from textual.screen import ModalScreen, ScreenResultType
from textual.strip import Strip
from textual.visual import VisualType
from textual.widgets import Input, Static

from tui.engine.notices import Notices
from tui.ui import theme
from tui.ui.styled_text import Piece, make_strip, spread
from tui.ui.stylesheets import sheet
from tui.ui.widgets.field import Field
from tui.ui.widgets.painted import PaintedWidget

Item = TypeVar("Item")
_STEPS = (("up", -1), ("down", 1), ("pageup", -10), ("pagedown", 10))


class PickList(PaintedWidget, Generic[Item]):
    """Items; a heir paints one of them as a row."""

    WHEEL_ROWS = 3

    class Lit(Message):
        """Another item is lit, by the wheel."""

    class Chosen(Message):
        """An item was clicked."""

    def __init__(self) -> None:
        super().__init__()
        self._items: Sequence[Item] = ()
        self._at = 0
        self._top = 0

    @property
    def chosen(self) -> Item | None:
        """The lit item."""
        return self._items[self._at] if self._at < len(self._items) else None

    def show(self, items: Sequence[Item], at: int = 0) -> None:
        """Show others, one of them lit."""
        self._items, self._at, self._top = items, 0, 0
        self.step(at)

    def step(self, rows: int) -> None:
        """Light another one."""
        self._at = max(min(self._at + rows, len(self._items) - 1), 0)
        height = max(self.size.height, 1)
        most = max(len(self._items) - height, 0)
        self._top = max(min(self._top, self._at, most), self._at - height + 1)
        self.refresh()

    def render_line(self, y: int) -> Strip:
        """A row, or nothing."""
        width, style, at = self.size.width, theme.active().style, self._top + y
        if at >= len(self._items):
            return make_strip([], width, style("", "panel"))
        lit = at == self._at
        back = "selection" if lit else "panel"
        lead = (" ▸ " if lit else "   ", style("accent"))
        room = max(width - 3, 0)
        pieces = [lead, *spread(*self.row(self._items[at], room), room)]
        return make_strip(pieces, width, style("foreground", back))

    def row(self, item: Item, width: int) -> tuple[list[Piece], list[Piece]]:
        """What is said of an item in so many cells, cropped if need be; and what is at its end."""
        raise NotImplementedError

    def on_click(self, event: events.Click) -> None:
        """Choose by clicking."""
        event.stop()
        if self._top + event.y < len(self._items):
            self._at = self._top + event.y
            self.refresh()
            self.post_message(self.Chosen())

    def wheel(self, steps: int, *, sideways: bool) -> None:
        """Light another one."""
        self.step(steps * self.WHEEL_ROWS)
        self.post_message(self.Lit())


class OneRow(Static):
    """Words in one row: other words take no layout, the same ones nothing."""

    def update(self, content: VisualType = "", *, layout: bool = False) -> None:
        """Show these."""
        if content != self.content:
            super().update(content, layout=layout)


class PickScreen(ModalScreen[ScreenResultType]):
    """A list over the screen, and a field that narrows it: the arrows move in the list.

    All keys have priority, so that what is typed behind Enter is not the field's any more.
    """

    CSS_PATH = sheet("pick_list")
    AUTO_FOCUS = "Input"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,ctrl+c", "leave", show=False, priority=True),
        Binding("enter", "take", show=False, priority=True),
        *(Binding(key, f"step({rows})", show=False, priority=True) for key, rows in _STEPS),
    ]
    title_words = placeholder = ""
    """What stands over the field, and in it while it is empty; without the latter there is none."""
    _list: PickList[Any]

    def __init__(self) -> None:
        super().__init__()
        self._field = Field(placeholder=self.placeholder)
        self._lit = OneRow("", markup=False, classes="pick-lit")
        """What there is no room for in the lit row; shown by heirs."""
        self._lit.display = False
        self._status = OneRow("", markup=False)
        self._box = Vertical(classes="pick")

    def compose(self) -> ComposeResult:
        """Field above, items below, and what can be done."""
        with self._box:
            if self.title_words:
                yield Static(self.title_words, markup=False, classes="pick-title")
            if self.placeholder:
                yield self._field
            yield self._list
            yield self._lit
            yield self._status

    def on_mount(self) -> None:
        """All of them."""
        self.look_for(self._field.value)

    def action_leave(self) -> None:
        """Choose nothing."""
        self.dismiss(None)

    def action_step(self, rows: int) -> None:
        """Light another one."""
        self._list.step(rows)
        self.lit()

    @on(PickList.Lit)
    def _scrolled(self, event: Message) -> None:
        event.stop()
        self.lit()

    @on(PickList.Chosen)
    def _clicked(self, event: Message) -> None:
        event.stop()
        self.action_take()

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        event.stop()
        self.look_for(event.value)

    def lit(self) -> None:
        """Another one is lit."""

    def look_for(self, words: str) -> None:
        """Show what fits what is typed."""

    def action_take(self) -> None:
        """Have the one that is lit."""
        if self._list.chosen is not None:
            self.dismiss(self._list.chosen)


class KeyedScreen(PickScreen[ScreenResultType]):
    """A list without a field, so that letters are keys; it is as high as it is long."""

    AUTO_FOCUS = ""
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("q", "leave", show=False, priority=True),
        Binding("k", "step(-1)", show=False),
        Binding("j", "step(1)", show=False),
    ]
    MOST_ROWS = 16

    def sync(self, notices: Notices) -> None:
        """Something changed; called once a frame."""
        if notices.status:
            self._take_up()

    def _take_up(self) -> None:
        """Show what there is now."""
        raise NotImplementedError

    def show(self, items: Sequence[Any], at: int) -> None:
        """Show these, one of them lit."""
        self._list.styles.height = min(max(len(items), 1), self.MOST_ROWS)
        self._list.show(items, at)
