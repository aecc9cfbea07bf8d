"""Connecting a model, page by page; nothing is written before the last one."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from typing import Literal

from msgspec.structs import replace
from rich.cells import cell_len
from textual import events

from tui.engine.connecting import (
    ROLES,
    Connecting,
    ConnectOutcome,
    ConnectPort,
    Listed,
    Measured,
    ModelSource,
    Plan,
    key_wrong,
    named_source,
)
from tui.engine.intents import Role, UseModel
from tui.engine.model_choice import offer_words
from tui.engine.notices import Status
from tui.engine.ports import ModelOffer, ModelOffers
from tui.engine.session import Session
from tui.ui import theme
from tui.ui.connect.sheet import (
    Chooser,
    Item,
    Room,
    Row,
    SheetScreen,
    TypedField,
    choices,
    heading,
    words,
)
from tui.ui.styled_text import clip, one_line, wrap

Page = Literal[
    "who", "address", "key", "waiting", "fast", "deep", "test", "write", "writing", "done"
]
_STEPS: tuple[tuple[str, tuple[Page, ...]], ...] = (
    ("who", ("who",)),
    ("key", ("address", "key", "waiting")),
    ("fast", ("fast",)),
    ("deep", ("deep",)),
    ("test", ("test",)),
    ("write", ("write", "writing", "done")),
)
_ABOUT: dict[Role, str] = {
    "fast": "The fast model: it answers while you watch.",
    "deep": "The deep model: it gets the long and the hard work.",
}
_KEEP = "\0keep"
_KEPT_SECRET = "It is never shown, and kept only when you write at the end."


class ConnectScreen(SheetScreen[ConnectOutcome | None]):
    """From who shall answer to what is written."""

    def __init__(self, port: ConnectPort, status: Status, wanted: str = "") -> None:
        """``wanted`` is a provider or an address that was named already."""
        super().__init__()
        self._port, self._status, self._wanted = port, status, wanted
        self._page: Page = "who"
        self._sources: Sequence[ModelSource] | None = None
        """None while it is looked for them."""
        self._chosen: Connecting | None = None
        self._listed = Listed()
        self._measured: dict[str, Measured] = {}
        self._plan: Plan | None = None
        self._written = ConnectOutcome()
        self._wrong = ""
        """What did not work, in words; it stands under what it is about."""
        self._chooser = Chooser((), filtered=True)

    @property
    def models(self) -> tuple[tuple[Role, str], ...]:
        """What was chosen."""
        return () if self._chosen is None else self._chosen.models

    def on_mount(self) -> None:
        """Looking begins when the screen can show what is found."""
        self.run_worker(self._look(), name="looking around", exclusive=True, group="look")

    # -- keys

    def action_back(self) -> None:
        """The filter, then the page before, then out; what was asked is not waited for."""
        self.workers.cancel_group(self, "ask")
        if self._page == "writing":
            return
        if self._page == "who" and not self._chooser.typed:
            self.dismiss(None)
        elif self._page == "done":
            self.dismiss(self._written)
        elif not self._chooser.erase(all_of_it=True):
            self._go(self._before())
        self._write()

    async def action_leave(self) -> None:
        """Out at once; what is written stays written."""
        if self._page != "writing":
            self.workers.cancel_group(self, "ask")
            self.dismiss(self._written if self._page == "done" else None)

    def action_take(self) -> None:
        """What is lit, or typed; behind the test and the plan: go on."""
        page = self._page
        if page == "who" and (source := self._lit_source) is not None:
            self._begin(Connecting(source))
        elif page in ("address", "key"):
            self._take_field(page)
        elif page in ("fast", "deep"):
            self._choose_model("fast" if page == "fast" else "deep")
        elif page == "test" and self._tested:
            self._go("write")
            self._ask(self._plan_it())
        elif page == "write" and self._plan is not None and not self._plan.wrong:
            self._go("writing")
            self.run_worker(self._write_it(), name="writing", exclusive=True, group="write")
        elif page == "done":
            self.dismiss(self._written)
        self._write()

    def on_key(self, event: events.Key) -> None:
        """Also the letters of single pages: test again, copy."""
        if self._page == "test" and event.character == "t" and self._tested:
            self._test()
        elif self._page in ("write", "done") and event.character == "c":
            self._copy()

    # -- from page to page

    @property
    def _lit_source(self) -> ModelSource | None:
        item = self._chooser.chosen
        return next((one for one in self._sources or () if item and one.name == item.key), None)

    def _begin(self, chosen: Connecting) -> None:
        """Ask for what is missing of it, or for its models."""
        self._chosen, source = chosen, chosen.source
        if source.needs_address and not chosen.url:
            self._go("address")
        elif source.needs_key or not source.name:
            self._go("key")
        else:
            self._list()

    def _take_field(self, page: Page) -> None:
        assert self._chosen is not None
        assert self._field is not None
        typed = self._field.text.strip()
        if page == "address":
            if not typed:
                self._wrong = "Type the server's address, as https://HOST/v1."
                return
            self._begin(replace(self._chosen, url=typed))
            return
        optional = not self._chosen.source.name
        if (typed or not optional) and (wrong := key_wrong(typed)):
            self._wrong = wrong
            return
        self._chosen = replace(self._chosen, key=typed)
        self._list()

    def _choose_model(self, role: Role) -> None:
        assert self._chosen is not None
        item = self._chooser.chosen
        typed = self._chooser.typed.strip()
        name = item.key if item is not None else typed if self._listed.is_typed else ""
        if not name:
            return
        self._chosen = self._chosen.with_model(role, "" if name == _KEEP else name)
        if role == "fast":
            self._go("deep")
        elif not self._chosen.models:
            self._wrong = "Both roles stay as they are: choose a model for one of them."
        else:
            self._go("test")
            self._test()

    def _before(self) -> Page:
        """The page to go back to."""
        source = None if self._chosen is None else self._chosen.source
        asked = source is not None and (source.needs_key or bool(self._chosen and self._chosen.key))
        address: Page = "address" if source is not None and source.needs_address else "who"
        key: Page = "key" if asked else address
        back: dict[Page, Page] = {
            "key": address,
            "waiting": key,
            "fast": key,
            "deep": "fast",
            "test": "deep",
            "write": "test",
        }
        return back.get(self._page, "who")

    def _go(self, page: Page, wrong: str = "") -> None:
        self._page, self._wrong, self._field = page, wrong, None
        chosen = self._chosen
        if page == "who":
            self._chosen = None
        elif page == "address":
            self._field = TypedField("Address", text="" if chosen is None else chosen.url)
        elif page == "key":
            self._field = TypedField("Key", secret=True)
            self._chosen = chosen and replace(chosen, key="")
        self._chooser = Chooser(self._items(), filtered=page in ("who", "fast", "deep"))
        self._write()

    def _items(self) -> Sequence[Item]:
        """The rows of this page."""
        if self._page == "who":
            return [Item(one.name, one.title, one.words) for one in self._sources or ()]
        if self._page not in ("fast", "deep"):
            return ()
        role: Role = "fast" if self._page == "fast" else "deep"
        rows = [Item(one.model, one.model, offer_words(one)) for one in self._listed.models]
        fast = dict(self.models).get("fast", "")
        if role == "deep" and fast:
            rows = [
                Item(fast, fast, "the same one"),
                *(one for one in rows if one.key != fast),
            ]
        now = self._status.models.get(role)
        if now and not now.startswith("rehearsal-"):
            rows.append(Item(_KEEP, f"keep {now}", f"{role} stays as it is"))
        return rows

    # -- what takes a while

    def _ask(self, work: Coroutine[object, object, None]) -> None:
        self.run_worker(work, name="asking", exclusive=True, group="ask")

    async def _look(self) -> None:
        self._sources = await self._port.look(lambda found: self._write())
        if self._page == "who":
            typed, wanted = self._chooser.typed, self._wanted
            meant = named_source(wanted, self._sources) if wanted and not typed else ""
            if isinstance(meant, Connecting):
                self._begin(meant)
                return
            self._wrong = meant
            self._chooser = Chooser(self._items(), filtered=True)
            if typed:
                self._chooser.filter(typed)
        self._write()

    def _list(self) -> None:
        self._go("waiting")
        self._ask(self._list_it())

    async def _list_it(self) -> None:
        assert self._chosen is not None
        self._listed = listed = await self._port.models(self._chosen)
        if listed.models or listed.is_typed:
            self._go("fast")
        elif listed.field == "key":
            self._go("key", listed.wrong)
        elif listed.field == "address" or self._chosen.source.needs_address:
            self._go("address", listed.wrong)
        else:
            self._go("who", listed.wrong)

    @property
    def _tested(self) -> bool:
        """All models have answered, or will not."""
        return bool(self._measured) and all(one.is_over for one in self._measured.values())

    def _test(self) -> None:
        assert self._chosen is not None
        self._measured = {}
        self._ask(self._port.test(self._chosen, self._told))
        self._write()

    def _told(self, measured: Measured) -> None:
        self._measured[measured.model] = measured
        self._write()

    async def _plan_it(self) -> None:
        assert self._chosen is not None
        self._plan = None
        self._plan = await self._port.plan(self._chosen)
        self._wrong = self._plan.wrong
        self._write()

    async def _write_it(self) -> None:
        assert self._chosen is not None
        self._written = await self._port.write(self._chosen)
        if self._written.wrong:
            self._go("write", self._written.wrong)
        elif self._written.notes:
            self._go("done")
        else:
            self.dismiss(self._written)

    # -- painting

    def _head(self, room: Room) -> list[Row]:
        """The name, and how far one is."""
        style = theme.active().style
        row = heading("connect a model", room)[0]
        steps: Row = []
        behind = False
        for name, of in _STEPS:
            here = self._page in of
            behind |= here
            look = style("accent", more="bold") if here else style("faint" if behind else "success")
            steps += [(f"{'' if behind else '✓ '}{name}", look), ("  ", style("faint"))]
        steps = steps[:-1]
        used = sum(cell_len(text) for text, _ in row)
        gap = room.width - used - sum(cell_len(text) for text, _ in steps)
        if gap >= 2:
            row += [(" " * gap, style("faint")), *steps]
        return [row, []]

    def _body(self, room: Room, used: int) -> list[Row]:
        page = self._page
        left = Room(room.width, room.height - used)
        if page in ("address", "key"):
            return self._field_rows(left)
        if page in ("fast", "deep"):
            about = words(_ABOUT["fast" if page == "fast" else "deep"], room)[:-1]
            if self._listed.is_typed:
                about += words(self._listed.wrong, room, "muted")[:-1]
            return [*about, *self._wrong_rows(room), [], *self._choices(left, len(about) + 2)]
        if page == "test":
            return self._test_rows(left)
        if page in ("write", "writing", "done"):
            return self._write_rows(left)
        if page == "waiting":
            who = self._chosen.source.title if self._chosen else "this machine"
            return words(f"Asking {who or 'the server'} for its models…", room, "muted")
        rows = words("Which provider?", room)[:-1]
        rows += self._wrong_rows(room)
        if self._sources is None:
            return [*rows, [], *words("Looking for keys and local servers…", room, "muted")]
        note = self._asks(room)
        return [*rows, [], *self._choices(left, len(rows) + 1 + len(note)), *note]

    def _choices(self, room: Room, used: int) -> list[Row]:
        if self._listed.is_typed and self._page in ("fast", "deep") and not self._chooser.shown:
            style = theme.active().style
            typed = self._chooser.typed
            name = [("▸ ", style("accent")), (typed or "its name", style("accent"))]
            return [name if typed else [("  type the name", style("faint"))]]
        return choices(self._chooser, Room(room.width, max(room.height - used - 2, 3)))

    def _asks(self, room: Room) -> list[Row]:
        """What choosing the lit row sends."""
        source = self._lit_source
        said = source.asks if source is not None else ""
        return [[], *words(f"Enter {said}.", room, "faint")[:-1]] if said else [[], []]

    def _wrong_rows(self, room: Room) -> list[Row]:
        if not self._wrong:
            return []
        style = theme.active().style
        lines = wrap([(one_line(self._wrong), style("warning"))], max(room.width - 4, 8))
        first: Row = [("  ▲ ", style("warning")), *lines[0]]
        return [first, *([("    ", style("warning")), *line] for line in lines[1:])]

    def _field_rows(self, room: Room) -> list[Row]:
        assert self._field is not None
        assert self._chosen is not None
        title = self._chosen.source.title
        if self._page == "address":
            about, below = "The server's address", "As https://HOST/v1; http only here."
            if self._chosen.source.name:
                about, below = f"The address of your {title} resource", "As https://HOST/..."
        else:
            about = (
                f"The key for {title}" if self._chosen.source.name else "Its key, if it wants one"
            )
            below = f"Paste it here. {_KEPT_SECRET}"
        return [
            *words(about, room),
            self._field.row(room.width),
            *self._wrong_rows(room),
            [],
            *words(below, room, "muted"),
        ]

    def _test_rows(self, room: Room) -> list[Row]:
        style = theme.active().style
        rows = words("One short answer of each, to see that it works and how fast it is.", room)
        for model, one in self._measured.items():
            roles = " and ".join(role for role in ROLES if (role, model) in self.models)
            sign, colour = "…", "muted"
            if one.is_over:
                sign, colour = ("▲", "warning") if one.wrong else ("●", "success")
            name: Row = [
                (f"  {sign} ", style(colour)),
                (f"{roles}  ", style("muted")),
                (clip(one_line(model), room.width - 16), style("foreground", more="bold")),
            ]
            said = wrap([(one_line(one.words), style(colour))], max(room.width - 6, 8))
            rows += [name, *([("      ", style(colour)), *line] for line in said), []]
        return rows

    def _write_rows(self, room: Room) -> list[Row]:
        style = theme.active().style
        if self._page == "done":
            rows = words("Connected. One thing is left to you:", room)
            for note in self._written.notes:
                rows += words(note, room, "accent" if "&&" in note else "foreground")
            return rows
        plan = self._plan
        if plan is None:
            return words("Looking at your settings…", room, "muted")
        if plan.wrong:
            rows = [*self._wrong_rows(room), []]
            rows += words("Write this by hand; c copies it:", room, "muted") * bool(plan.by_hand)
            by_hand = plan.by_hand.splitlines()
            return [*rows, *([(f"    {one_line(line)}", style("foreground"))] for line in by_hand)]
        rows = words(f"{self._port.config_file} will say:", room)
        colours = {"+": "success", "-": "error", " ": "faint"}
        most = max(room.height - 7, 3)
        lines = plan.lines[:most]
        for sign, text in lines:
            look = style(colours[sign])
            rows.append([(f"  {sign} ", look), (clip(one_line(text), room.width - 4), look)])
        if more := len(plan.lines[most:]):
            left = f"    and {more} more {'line' if more == 1 else 'lines'}"
            rows.append([(left, style("muted"))])
        if not plan.lines:
            rows += words("what it says already: nothing changes.", room, "muted")
        rows += [[], *words(plan.key, room, "muted")] if plan.key else [[]]
        return [*rows, *self._wrong_rows(room)]

    def _keys(self) -> Sequence[tuple[str, str]]:
        page = self._page
        back = ("Esc", "back")
        if page == "who":
            return (("↑↓", "move"), ("Enter", "choose"), ("Esc", "leave, nothing is kept"))
        if page in ("address", "key"):
            return (("Enter", "go on"), ("Ctrl+U", "clear"), back)
        if page in ("waiting", "writing"):
            return (back,)
        if page == "test":
            failed = any(one.wrong for one in self._measured.values())
            on = (("Enter", "go on all the same" if failed else "go on"), ("t", "test again"))
            return (*on, back) if self._tested else (back,)
        if page == "write":
            if self._plan is None or self._plan.wrong:
                return (("c", "copy"), back) if self._plan and self._plan.by_hand else (back,)
            return (("Enter", "write it, and use it at once"), back)
        if page == "done":
            return (("c", "copy the line"), ("Enter", "go on"))
        return (("↑↓", "move"), ("Enter", "choose"), back)

    def _copy(self) -> None:
        """The line, or the tables; never a key: neither has one."""
        line = next((note for note in self._written.notes if "&&" in note), "")
        by_hand = self._plan.by_hand if self._plan is not None else ""
        if text := line if self._page == "done" else by_hand:
            self.app.copy_to_clipboard(text)
            self.notify("Copied.", timeout=3)


def connected(
    screen: ConnectScreen, session: Session, then: Callable[[bool], None]
) -> Callable[[ConnectOutcome | None], None]:
    """What follows when the screen is gone: the running session asks what was connected."""

    def done(written: ConnectOutcome | None) -> None:
        if written is not None:
            for role, model in screen.models:
                session.submit(UseModel(role, written.endpoint, model))
        then(written is not None)

    return done


class ModelScreen(SheetScreen[None]):
    """Filtered by typing; what is chosen answers at once, in this session."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self._role = session.status.role
        self._offers: ModelOffers | None = None
        self._chooser = Chooser((), filtered=True)

    def on_mount(self) -> None:
        """The endpoints are asked when the screen is there."""
        self.run_worker(self._ask(), name="asking for models", exclusive=True)

    def action_back(self) -> None:
        """The filter, then out."""
        if self._chooser.erase(all_of_it=True):
            self._write()
        else:
            self.dismiss(None)

    def action_take(self) -> None:
        """The lit one, from now on."""
        item = self._chooser.chosen
        offer = item and next((one for one in self._all() if _key(one) == item.key), None)
        if offer:
            self.dismiss(None)
            self._session.submit(UseModel(self._role, offer.endpoint, offer.model))

    def _all(self) -> Sequence[ModelOffer]:
        return () if self._offers is None else self._offers.offers

    async def _ask(self) -> None:
        self._offers = await self._session.offers()
        status, typed = self._session.status, self._chooser.typed
        now = (status.endpoint, status.models.get(self._role, ""))
        items = [
            Item(_key(one), f"{one.endpoint}/{one.model}", _words(one, now)) for one in self._all()
        ]
        self._chooser = Chooser(items, filtered=True)
        places = [(one.endpoint, one.model) for one in self._all()]
        self._chooser.at = places.index(now) if now in places else 0
        if typed:
            self._chooser.filter(typed)
        self._write()

    def _head(self, room: Room) -> list[Row]:
        return heading(f"the {self._role} model, for this session", room)

    def _body(self, room: Room, used: int) -> list[Row]:
        if self._offers is None:
            return words("Asking the connected endpoints for their models…", room, "muted")
        rows: list[Row] = []
        for name, why in self._offers.unlisted.items():
            rows += words(f"{name} gave no list: {one_line(why)}", room, "warning")[:-1]
        rows += words("Window, dollars a million tokens in and out, your own speed:", room, "faint")
        left = Room(room.width, max(room.height - used - len(rows) - 3, 3))
        return [*rows, *choices(self._chooser, left)]

    def _keys(self) -> Sequence[tuple[str, str]]:
        return (("↑↓", "choose"), ("Enter", "use it in this session"), ("Esc", "back"))


def _key(offer: ModelOffer) -> str:
    return f"{offer.endpoint}\n{offer.model}"


def _words(offer: ModelOffer, now: tuple[str, str]) -> str:
    said = offer_words(offer)
    answers = "answers now" if (offer.endpoint, offer.model) == now else ""
    return " · ".join(filter(None, (said, answers)))
