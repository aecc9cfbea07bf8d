"""The screen of the very first start: it finds, shows, and asks before anything is used."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar, Literal

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.screen import ModalScreen
from textual.strip import Strip

from tui.ui import theme
from tui.ui.first_run import pages
from tui.ui.first_run.pages import Chooser, Item, Page, Room, Row
from tui.ui.first_run.port import FoundHere, ModelSource, Port
from tui.ui.styled_text import make_strip
from tui.ui.widgets.painted import PaintedWidget


class RowSheet(PaintedWidget):
    """Paints rows; what does not fit is cut off below, so pages are made for the room."""

    class Clicked(Message):
        """A row was clicked."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text
            """What stands in it."""

    _written: Sequence[Row] = ()

    def on_click(self, event: events.Click) -> None:
        """Which row it was."""
        event.stop()
        if 0 <= event.y < len(self._written):
            row = "".join(text for text, _ in self._written[event.y])
            self.post_message(self.Clicked(row))

    def write(self, rows: Sequence[Row]) -> None:
        """Have these rows, and nothing else."""
        self._written = rows
        self.refresh()

    @property
    def text(self) -> str:
        """All that is written, as plain text."""
        return "\n".join("".join(text for text, _ in row) for row in self._written)

    def render_line(self, y: int) -> Strip:
        """One row."""
        pieces = self._written[y] if y < len(self._written) else []
        return make_strip(pieces, self.size.width, theme.active().style("foreground", "background"))


class FirstRunScreen(ModalScreen[None]):
    """From what was found to one of three ways to begin."""

    AUTO_FOCUS = ""
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,shift+tab", "step(-1)", show=False),
        Binding("down,tab", "step(1)", show=False),
        Binding("pageup", "step(-8)", show=False),
        Binding("pagedown", "step(8)", show=False),
        Binding("home", "step(-9999)", show=False),
        Binding("end", "step(9999)", show=False),
        Binding("enter", "take", show=False),
        Binding("backspace", "erase", show=False),
        Binding("escape", "back", show=False),
        Binding("ctrl+c,ctrl+q", "leave", show=False),
    ]

    def __init__(self, port: Port, then: Callable[[], None]) -> None:
        """``then`` is called when the screen is gone and the port knows what was chosen."""
        super().__init__()
        self._port, self._then = port, then
        self._sheet = RowSheet(id="first-run")
        self._found: dict[str, FoundHere] = {}
        self._sources: Sequence[ModelSource] | None = None
        """None while it is looked for them."""
        self._page: Page = "start"
        self._chooser = Chooser(pages.ways(port, None))
        self._source: ModelSource | None = None
        self._models: tuple[str, ...] = ()
        self._fast = self._deep = ""
        self._wrong = ""
        """What did not work, in words."""

    @property
    def text(self) -> str:
        """What stands on the screen, as plain text."""
        return self._sheet.text

    def compose(self) -> ComposeResult:
        """One sheet."""
        yield self._sheet

    def on_mount(self) -> None:
        """Looking around begins when the screen can show what is found."""
        self.call_after_refresh(self._write)
        # the terminal may say late that its background is light
        self.app.theme_changed_signal.subscribe(self, lambda _: self._write())
        self.run_worker(self._look(), name="looking around", exclusive=True, group="look")

    def on_unmount(self) -> None:
        """Textual's signal would keep it."""
        self.app.theme_changed_signal.unsubscribe(self)

    def on_resize(self) -> None:
        """Other rows."""
        self.call_after_refresh(self._write)

    on_screen_resume = on_resize
    """The help, or the palette, lay over this."""

    # -- keys

    def on_key(self, event: events.Key) -> None:
        """A digit chooses; where there is much to choose from, what is typed filters."""
        if event.is_printable and event.character:
            event.stop()
            if self._chooser.type(event.character):
                self.action_take()
            self._write()

    def on_row_sheet_clicked(self, message: RowSheet.Clicked) -> None:
        """A row that was clicked is chosen, as by its digit."""
        shown = message.text[2:].strip()
        for index in range(len(self._chooser.shown)):
            if pages.label(self._chooser, index) == shown.partition("   ")[0]:
                self._chooser.at = index
                self.action_take()
                return

    def action_step(self, rows: int) -> None:
        """Light another row."""
        self._chooser.step(rows)
        self._write()

    def action_erase(self) -> None:
        """Take the last letter of the filter back."""
        self._chooser.erase()
        self._write()

    def action_back(self) -> None:
        """The filter, then the page before, then out: what lies under this stays."""
        if self._chooser.typed:
            while self._chooser.erase():
                pass
            self._write()
        elif self._page == "start":
            self._end("look")
        else:
            self._go(pages.before(self._page, self._sources or ()))

    def action_take(self) -> None:
        """What is lit."""
        item = self._chooser.chosen
        page, self._wrong = self._page, ""
        if page == "check":
            self._finish()
        elif page == "how":
            self._go("start")
        elif item is None or page == "waiting":
            self._write()
        elif page == "start":
            self._begin(item.key)
        elif page == "sources":
            self._ask(next(one for one in self._sources or () if one.name == item.key))
        elif page == "fast":
            self._fast = item.key
            self._go("deep")
        else:
            self._deep = item.key
            self._go("check")

    async def action_leave(self) -> None:
        """Out of duetto; the next start is a first one again."""
        await self.app.action_quit()

    # -- from page to page

    def _begin(self, way: str) -> None:
        if way == "connect":
            self._connect()
        elif way == "practice":
            self._end("practice")
        else:
            self._end("here" if self._port.here and self._port.under != "here" else "look")

    def _connect(self) -> None:
        """To whoever was found; the only one is chosen by itself."""
        if self._sources is None:
            self._go("waiting")
        elif not self._sources:
            self._go("how")
        elif len(self._sources) == 1 and not self._sources[0].asks:
            self._ask(self._sources[0])
        else:
            self._go("sources")

    def _ask(self, source: ModelSource) -> None:
        """For the models, if they are not known."""
        self._source = source
        if source.models:
            self._models = source.models
            self._go("fast")
            return
        self._go("waiting")
        self.run_worker(self._list(source), name="asking for models", exclusive=True, group="ask")

    async def _list(self, source: ModelSource) -> None:
        listed = await self._port.models(source)
        if self._page != "waiting" or self._source is not source:
            return
        self._models = listed.models
        if listed.wrong:
            self._go("sources")
            self._wrong = listed.wrong
            self._write()
        else:
            self._go("fast")

    async def _look(self) -> None:
        self._sources = await self._port.look(self._tell)
        if self._page == "start":
            at = self._chooser.at
            self._chooser = Chooser(self._items(), at=at)
        elif self._page == "waiting" and self._source is None:
            self._connect()
        self._write()

    def _tell(self, found: FoundHere) -> None:
        self._found[found.name] = found
        self._write()

    def _go(self, page: Page) -> None:
        self._page, self._wrong = page, ""
        if page in ("start", "sources"):
            self._source = None
        self._chooser = Chooser(self._items(), filtered=page in ("fast", "deep"))
        self._write()

    def _items(self) -> Sequence[Item]:
        """The rows of this page."""
        if self._page == "start":
            return pages.ways(self._port, self._sources)
        if self._page == "sources":
            return pages.whom(self._sources or ())
        if self._page in ("fast", "deep"):
            return pages.models(self._models, self._fast if self._page == "deep" else "")
        return ()

    def _finish(self) -> None:
        """Write the settings; what cannot be written is said, and can be copied."""
        self._wrong = self._port.write(self._settings())
        if self._wrong:
            self.app.copy_to_clipboard(self._settings())
            self._wrong += " The text is on the clipboard."
            self._write()
        else:
            self._end("connected")

    def _end(self, choice: Literal["practice", "connected", "here", "look"]) -> None:
        self._port.choose(choice)
        self.dismiss()
        self.app.call_later(self._then)

    def _settings(self) -> str:
        assert self._source is not None
        return self._port.config(self._source, self._fast, self._deep)

    # -- painting

    def _write(self) -> None:
        """The page, for the room that there is."""
        room = Room(*self._sheet.size)
        if room.width < 8 or not self.is_current:
            return
        rows = pages.heading(pages.TITLES[self._page], room) if room.height >= 12 else []
        if self._wrong:
            rows += pages.words(self._wrong, room, "warning")
        foot = pages.footing(pages.keys(self._page, self._fast), room)
        rows += self._body(room, len(rows) + len(foot))
        rows = rows[: room.height - len(foot)]
        above: list[Row] = [[] for _ in range((room.height - len(rows) - len(foot)) // 3)]
        self._sheet.write([*above, *rows, *foot])

    def _body(self, room: Room, used: int) -> list[Row]:
        """What the page is about; lists get the rows that are left."""
        page = self._page
        if page == "waiting":
            who = self._source.title if self._source else "this machine"
            return pages.words(f"Asking {who}…", room, "muted")
        if page == "how":
            return [*pages.words(pages.HOW, room, "muted"), *pages.settings(pages.LINE, room)]
        if page == "check":
            above = pages.words(f"{self._port.config_file} will be:", room, "muted")
            return [*above, *pages.settings(self._settings(), room)]
        rows: list[Row] = []
        if page == "start":
            rows = pages.findings(list(self._found.values()), room)
        left = room.height - used - len(rows) - (2 if self._chooser.filtered else 0)
        return [*rows, *pages.choices(self._chooser, Room(room.width, left))]
