"""Has edits written by the model under a grammar: a line that does not fit is written again."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from msgspec.structs import replace

from tui.bridge.endpoints.base import Asked, Broken, Refused
from tui.bridge.endpoints.openai_chat.stream import usage_in
from tui.bridge.local.grammar import rest_grammar
from tui.bridge.local.request import LocalPlan
from tui.bridge.local.written_edit import RejectedLineError, WrittenEdit
from tui.bridge.upstream.client import Upstream
from tui.bridge.upstream.errors import error_in
from tui.bridge.upstream.sse import Message, SseParser, said_by
from tui.core.wire.address import Address
from tui.core.wire.events import Usage
from tui.core.wire.json_writing import request_body

MOST_TRIES = 8
"""At lines that do not go with what stands there; then the edit is ended as it is."""
MOST_TOKENS = 1200
"""Of one edit, with all that was written again."""
TOLD = {"timings_per_token": True}
"""Each piece of an answer brings the count so far: it is exact also of one that is interrupted."""
_WARMTH, _WARMER, _WARMEST = 0.3, 0.15, 1.2
"""Temperatures: of the first try, more for each other one, and at most."""


class TooLongError(Exception):
    """What the model is told is more than its window."""

    def __init__(self, share: float) -> None:
        """``share`` of it fits, without an answer."""
        super().__init__(share)
        self.share = share


class Writing:
    """One answer of edits: what of it was said, and what that took."""

    say: Callable[[str], Awaitable[None]]
    """Shows text."""
    count: Callable[[Usage], None]

    def __init__(self, plan: LocalPlan, asked: Asked, address: Address, upstream: Upstream) -> None:
        self.plan, self.asked, self._address = plan, asked, address
        self._upstream = upstream
        self._said = ""
        """The edits that are whole."""
        self._counted = Usage(0, 0)
        """Of the requests that are over."""
        self._now = Usage(0, 0)
        """Of the one that runs."""

    @property
    def usage(self) -> Usage:
        """The server's own count: the input of the first request, the output of all."""
        done, now = self._counted, self._now
        first = done if done.input_tokens else now
        return replace(first, output_tokens=done.output_tokens + now.output_tokens)

    async def write(self, edit: WrittenEdit, grammar: str) -> None:
        """Have one written. Afterwards it is not `done` only if the model wanted none."""
        tries, most_tokens = 0, self.usage.output_tokens + MOST_TOKENS
        while not edit.done:
            least = 0
            try:
                await self._ask(edit, grammar, min(_WARMTH + _WARMER * tries, _WARMEST))
                over = True  # the model ended, or came to its limit
            except RejectedLineError:
                tries += 1
                least = int(edit.at_end)
                over = tries >= MOST_TRIES or self.usage.output_tokens >= most_tokens
            if edit.done or not edit.said:
                break
            if over:
                await self.say(await asyncio.to_thread(edit.end))
                if not edit.done:
                    raise Broken("The model on this machine ended without saying what to change.")
            else:
                edit.again()
                grammar = rest_grammar(min(least, edit.room), edit.room)
        self._said += edit.said

    async def _ask(self, edit: WrittenEdit, grammar: str, warmth: float) -> None:
        """Have the model go on with it. Raises RejectedLineError, TooLongError, Broken, Refused."""
        said = f"{self._said}{edit.said}"
        begun = [{"role": "assistant", "content": said}] if said else []
        body = {
            "model": self.asked.model,
            "messages": [*self.plan.messages, *begun],
            "grammar": grammar,
            "temperature": warmth,
            "max_tokens": MOST_TOKENS // 2,
            "stream": True,
            "cache_prompt": True,
            **TOLD,
        }
        try:
            async with self._upstream.post(self._address, request_body(body)) as response:
                if response.status != 200:
                    why = await response.chunk()
                    if (share := _fitting_share(why)) is None:
                        raise _refused(response.status, why)
                    if said:
                        raise Broken("The window of the model on this machine is full.")
                    raise TooLongError(share)
                parser = SseParser()
                while chunk := await response.chunk():
                    for message in parser.feed(chunk):
                        text = edit.take(self._heard(message))
                        self.count(self.usage)
                        if text:
                            await self.say(text)
                        if edit.done:
                            return
        except Broken as error:
            raise type(error)(f"The model on this machine stopped: {error}") from error
        finally:
            self._counted, self._now = self.usage, Usage(0, 0)

    def _heard(self, message: Message) -> str:
        """The text in a chunk; what the server counted is kept."""
        chunk = said_by(message)
        if not isinstance(chunk, dict):
            return ""
        if "error" in chunk:
            raise Broken(error_in(chunk).message)
        self._now = usage_in(chunk) or self._now
        choices = chunk.get("choices")
        delta = choices[0].get("delta") if isinstance(choices, list) and choices else None
        text = delta.get("content") if isinstance(delta, dict) else None
        return text if isinstance(text, str) else ""


def _fitting_share(body: bytes) -> float | None:
    """The share of a refused request that fits; None: it was not refused for its length."""
    answer = said_by(Message("", body))
    error = answer.get("error") if isinstance(answer, dict) else None
    if not isinstance(error, dict):
        return None
    there, wanted = error.get("n_ctx"), error.get("n_prompt_tokens")
    if not (isinstance(there, int) and isinstance(wanted, int) and 0 < there < wanted):
        return None
    return there / wanted


def _refused(status: int, body: bytes) -> Refused:
    answer = said_by(Message("", body))
    words = error_in(answer if isinstance(answer, dict) else {}).message
    return Refused(400 if status < 500 else status, "local_model_refused", words or "It refused.")
