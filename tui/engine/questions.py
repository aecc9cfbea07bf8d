"""What the user is asked, and what the answers are waited for with."""

from __future__ import annotations

from asyncio import Future, get_running_loop
from collections.abc import Callable
from functools import partial

from tui.engine.notices import Ask, Status


class Questions:
    """The questions that are open; `Status.asks` shows them."""

    def __init__(self, status: Status, changed: Callable[[], None]) -> None:
        """``changed`` is called whenever there is one more or one less."""
        self._status = status
        self._changed = changed
        self._answers: dict[int, Future[str]] = {}
        self._count = 0

    def ask(self, question: str, detail: str, choices: tuple[str, ...]) -> Future[str]:
        """Ask the user; the future's result is one of the choices. Cancelled: taken back."""
        self._count += 1
        answer: Future[str] = get_running_loop().create_future()
        self._answers[self._count] = answer
        self._status.asks.append(Ask(self._count, question, detail, choices))
        answer.add_done_callback(partial(self._gone, self._count))
        self._changed()
        return answer

    def answer(self, ask_id: int, choice: str) -> None:
        """The user answered; an answer that is not among the choices is the refusal."""
        answer = self._answers.get(ask_id)
        ask = next((a for a in self._status.asks if a.id == ask_id), None)
        if answer is None or ask is None or answer.done():
            return
        answer.set_result(choice if choice in ask.choices else ask.choices[-1])
        self._retract(ask_id)

    def _gone(self, ask_id: int, answer: Future[str]) -> None:
        self._retract(ask_id)

    def _retract(self, ask_id: int) -> None:
        if self._answers.pop(ask_id, None) is not None:
            self._status.asks = [ask for ask in self._status.asks if ask.id != ask_id]
            self._changed()
