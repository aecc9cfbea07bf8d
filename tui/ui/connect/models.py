"""The list of all models that can be asked now, to choose the one of the current role."""

from __future__ import annotations

from collections.abc import Sequence

from tui.engine.intents import UseModel
from tui.engine.model_choice import offer_words
from tui.engine.ports import ModelOffer, ModelOffers
from tui.engine.session import Session
from tui.ui.connect.sheet import Chooser, Item, Room, Row, SheetScreen, choices, heading, words
from tui.ui.styled_text import one_line


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
        if self._unfilter():
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
        for character in typed:
            self._chooser.type(character)
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
