"""``/context`` and ``/pin``: what the next request holds, what is left out and what stays."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from tui.core.attachments import ATTACHED
from tui.core.conversation import HistoryEntry, Item
from tui.core.instructions import MAP_NAME, RULES_NAME
from tui.core.ledger import RESULTS, InputPrices, RequestPart, TokenLedger, ledger_lines
from tui.core.recall import said_in
from tui.core.wire.events import Usage
from tui.engine.intents import AddPart, DropPart, Pin, ShowContext
from tui.engine.ports import REHEARSAL, RoleSpec
from tui.engine.requests import Request
from tui.engine.services import Services
from tui.errors import EditRefused

_DROPPABLE = ("listing", RULES_NAME, MAP_NAME)
_LOOKED = ("function_call_output", "local_shell_call_output")
"""Answers that say any text."""
_NO_PINS = "Nothing is pinned: /pin NAME keeps a file attached, /pin WORDS keeps words in mind."
_HOW = "/context drop NAME leaves a part out, /context add NAME sends it again, /pin NAME keeps it."


_NO_RESULT: Item = {"output": "left out by the user: call it again if it is needed"}
_LONG_CHARS = 200
"""A result that is shorter costs next to nothing."""


class RequestParts:
    """Says what is sent, in the conversation, and changes it."""

    def __init__(self, services: Services, asked: Callable[[], tuple[RoleSpec, Request]]) -> None:
        """``asked`` says who answers, and what a request to it says beside its items."""
        self._services, self._asked = services, asked
        self._attachments = services.requests.attachments
        self._ledger = TokenLedger()
        self._task: asyncio.Task[None] | None = None

    def handle(self, intent: ShowContext | DropPart | AddPart | Pin) -> None:
        """Do it in the background; what came of it is told in the conversation."""
        match intent:
            case ShowContext():
                work = self._show()
            case DropPart(name):
                work = self._drop(name)
            case AddPart(name):
                work = self._add(name)
            case Pin(words):
                work = self._pin(words)
        self._task = self._services.supervisor.start(work, "the parts of a request")

    @property
    def running(self) -> bool:
        """Something that was asked is not answered yet."""
        return self._task is not None and not self._task.done()

    async def parts(self) -> list[RequestPart]:
        """What the next request holds, with its files as they are now."""
        services, (spec, head) = self._services, self._asked()
        await services.open_files.prepare()
        history, requests = services.requests.history, services.requests
        self._attachments.images.settle(spec, history)
        said, entries, sent = requests.said or requests.preview(), history.entries, history.sent
        if requests.begins_anew:
            entries, sent = [one for one in entries if one.kind != "context"], 0
        said = {kind: text for kind, text in said.items() if kind not in self._attachments.dropped}
        counting = self._ledger.parts(said, head.get("tools"), entries, sent)
        found = await services.state.input_first.do(counting, services.ports.clock.now)
        scale = services.window().scale(spec)
        for part in found:
            part.tokens, part.sent = scale.tokens(part.tokens), scale.tokens(part.sent)
        for file in requests.new_files(spec):
            kind = "attachment" if file.attached else "open file"
            tokens = scale.tokens(self._attachments.tokens_of(file))
            found.append(RequestPart(kind, file.name, tokens))
            await asyncio.sleep(0)
        return found

    async def _show(self) -> None:
        spec, _ = self._asked()
        parts = await self.parts()
        window = self._services.window().of(spec).tokens
        total = sum(part.tokens for part in parts)
        full = f" of {window:,} ({total / window:.0%})" if window else ""
        head = f"The next request to {spec.model}: about {total:,}{full} tokens"
        lines = ledger_lines(parts, await self._prices(spec, total), self._attachments.pins)
        words = [f"pinned: {pin}" for pin in self._attachments.pins]
        left_out = sorted(self._attachments.dropped)
        words += [f"left out: {', '.join(left_out)}"] if left_out else []
        if any(part.sent for part in parts):
            words.append("What is not new was sent before, so that it may be in a cache.")
        usage = self._services.state.meter.total()
        if usage is not None and usage.cached_tokens is not None and usage.input_tokens:
            share = usage.cached_tokens / usage.input_tokens
            words.append(f"The server found {share:.0%} of the last turn's input in its cache.")
        self._say("\n".join([head, *lines, *words, _HOW]))

    async def _prices(self, spec: RoleSpec, total: int) -> InputPrices:
        ask = self._services.ports.quote
        if ask is None or spec.endpoint == REHEARSAL or not total:
            return InputPrices()
        tier = self._services.state.status.tiers.get(spec.role, "")
        each = []
        for cached in (0, total):
            quote = await ask(spec.endpoint, (spec.model,), Usage(total, 0, cached), tier)
            each.append(None if quote.usd is None else quote.usd / total)
        return InputPrices(*each)

    async def _drop(self, name: str) -> None:
        called = name.removeprefix("@")
        if self._attachments.unpin(name):
            self._say(f"Not pinned any more: {name}")
            return
        parts = await self.parts()
        if called in self._attachments.dropped:
            self._say(f"It is left out already: {name}")
            return
        if called in _DROPPABLE:
            self._attachments.dropped.add(called)
        elif self._services.requests.history.leave_out_image(called):
            pass
        elif not self._left_out(called, name):
            names = [part.called for part in parts if part.name or part.kind == RESULTS]
            names += [one for one in _DROPPABLE if one not in self._attachments.dropped]
            names = [*dict.fromkeys([*names, *self._attachments.pins])]
            why = f"these can be left out: {', '.join(names)}"
            self._services.state.warn(f"{name} was not dropped", why)
            return
        self._services.requests.begin_anew()
        gone = sum(part.tokens for part in parts if part.called == called)
        rest = sum(part.tokens for part in parts) - gone
        again = f"the next request says the rest anew, about {rest:,} tokens"
        self._say(f"Left out from now on: {name} ({gone:,} tokens); {again}.")

    async def _add(self, name: str) -> None:
        dropped = self._attachments.dropped
        if (called := name.removeprefix("@")) not in dropped:
            why = (
                f"left out are: {', '.join(sorted(dropped))}" if dropped else "nothing is left out"
            )
            self._services.state.warn(f"{name} was not added", why)
            return
        dropped.remove(called)
        self._services.requests.begin_anew()
        total = sum(part.tokens for part in await self.parts())
        self._say(
            f"Sent again from now on: {name}; the next request says all anew, {total:,} tokens."
        )

    def _left_out(self, called: str, name: str) -> bool:
        """Leave out a file, results of calls, an image, or what was made for a prompt."""
        history = self._services.requests.history

        def named(entry: HistoryEntry) -> bool:
            image = entry.image is not None and entry.image.name == called
            return image or (entry.kind == "note" and entry.text.startswith(f"{ATTACHED}{name}\n"))

        if called == RESULTS:
            return history.leave_out(self._is_long_result(), _NO_RESULT)
        found = history.leave_out(named)
        return self._attachments.drop(called) or self._attachments.drop(name) or found

    def _is_long_result(self) -> Callable[[HistoryEntry], bool]:
        """Whether an item is a result of a turn that is over; what became of patches stays."""
        history, busy = self._services.requests.history, self._services.state.status.busy
        items = [entry.item for entry in history.entries]
        patches = {one.get("call_id") for one in items if one.get("name") == "apply_patch"}

        def is_long(entry: HistoryEntry) -> bool:
            called = entry.kind == "answer" and entry.item.get("type") in _LOOKED
            if not called or entry.item.get("call_id") in patches:
                return False
            over = not busy or entry.turn < history.turn
            return over and len(said_in(entry.item)) > _LONG_CHARS

        return is_long

    async def _pin(self, words: str) -> None:
        pins = self._attachments.pins
        if not words:
            listed = "\n".join(f"pinned: {pin}" for pin in pins)
            self._say(listed or _NO_PINS)
            return
        try:
            await self._services.open_files.prepare()
            self._say(await self._attachments.pin(words))
        except EditRefused as error:
            self._services.state.warn(f"{words} was not pinned", str(error))

    def _say(self, words: str) -> None:
        self._services.state.note(0, words)
