"""The steering texts of a turn: where each one is, until it is part of the conversation.

A text is in one place at a time: with the server (`Status.steering`), in the backlog, or said.
The server owns what it accepted; only the successor's beginning proves that it was used
(PROTOCOL.md section 7).
"""

from __future__ import annotations

from dataclasses import dataclass

from tui.core.turn import Block, BlockKind
from tui.core.wire.events import SteerNews
from tui.engine.kit import Kit
from tui.engine.notices import SteerFate
from tui.engine.ports import Wire


@dataclass(slots=True)
class _Text:
    text: str
    fate: SteerFate = "sent"


class Steering:
    """What the user added to one turn while it ran."""

    def __init__(self, kit: Kit, turn: int) -> None:
        self.said = 0
        """Texts that became messages of the conversation."""
        self._kit = kit
        self._turn = turn
        self._texts: dict[int, _Text] = {}
        """By the wire's number: those that the server has."""

    @property
    def undecided(self) -> bool:
        """The server has a text that is neither used, returned, nor waiting for tool outputs."""
        return any(text.fate != "pending" for text in self._texts.values())

    def steer(self, wire: Wire, model: str, text: str) -> None:
        """Hand a text to the response in flight; in the backlog it waits for a way to go."""
        number = wire.steer(text)
        if number is not None:
            self._texts[number] = _Text(text)
            self._show()
        elif wire.abilities(model).steer is False:
            self._kit.backlog.add(text)
        else:
            self._kit.backlog.add(text, "steer")

    def news(self, news: SteerNews) -> None:
        """Something became of a text; of one that was taken back it is no news any more.

        Numbers begin anew on every socket, so the text has to fit, too.
        """
        known = self._texts.get(news.number)
        if known is None or known.text != news.text:
            return
        if news.fate == "accepted" or news.fate == "pending":
            known.fate = news.fate
        else:
            del self._texts[news.number]
            if news.fate == "used":
                self._kit.requests.history.prompt(known.text)
                self.say([known.text])
            else:
                self._kit.backlog.add(known.text, "steer")
        self._show()

    def say(self, texts: list[str]) -> None:
        """These are part of the conversation now: show them."""
        for text in texts:
            self._kit.board.add(Block(BlockKind.USER, self._turn, state="done"), text)
        self.said += len(texts)

    def give_back(self) -> None:
        """Take back what the server still has: it waits in the backlog, first of all.

        A server that keeps a text for the answers to its calls would add it to whatever
        continues from there, so nothing does.
        """
        texts, self._texts = self._texts, {}
        for text in texts.values():
            self._kit.backlog.add(text.text, "steer")
        if texts:
            self._kit.requests.history.break_chain()
            self._show()

    def _show(self) -> None:
        status = self._kit.board.status
        status.steering = [text.text for text in self._texts.values()]
        status.steering_fates = [text.fate for text in self._texts.values()]
        self._kit.board.restated()
