"""What is told of a run comes in the order in which it was told, at any pace."""

from __future__ import annotations

import json
import time
from types import SimpleNamespace
from typing import Any, cast

import pytest

from tests.support.server_side import create, one_run, sent
from tests.support.tables import each
from tui.bridge.endpoints.base import Steered
from tui.bridge.endpoints.response_writer import PacedOutput, ResponseWriter, TokenRate
from tui.core.wire.masking import Mask
from tui.core.wire.server.protocol import ServerProtocol
from tui.core.wire.server.run import Run

TOKENS_S = 1000.0
KEY = "sk-very-secret-0123456789"


class Teller:
    """One run, of which is told as fast as its client wants."""

    def __init__(self, tokens_s: float | None) -> None:
        self.server = ServerProtocol()
        self.run: Run = one_run(self.server, create())
        self.run.tokens_s = tokens_s
        self.writer = ResponseWriter(self.run, self._written, mask=Mask([KEY]))

    def answer(self) -> None:
        """A thought, a message and a call, as one chunk may hold them."""
        for item, text in (
            ({"type": "reasoning"}, "I think of it"),
            ({"type": "message"}, "Here it is"),
            ({"type": "function_call", "name": "read"}, "{}"),
        ):
            index = self.writer.item_added(item)
            self.writer.delta(index, text)
            self.writer.item_done(index)

    def heard(self) -> list[tuple[str, Any]]:
        """Kind and index of the items' events, each once."""
        told = [(event["type"], event.get("output_index")) for event in sent(self.server)]
        return list(dict.fromkeys(one for one in told if one[1] is not None))

    async def _written(self) -> None:
        return None


async def test_items_behind_those_of_another_server_have_their_own_numbers() -> None:
    teller = Teller(TOKENS_S)
    item = {"type": "message", "id": "msg_1", "content": []}
    delta = {"type": "response.output_text.delta", "output_index": 0, "delta": "word " * 9}
    teller.writer.pass_on({"type": "response.output_item.added", "output_index": 0, "item": item})
    teller.writer.pass_on(delta)
    teller.writer.pass_on({"type": "response.output_item.done", "output_index": 0, "item": item})
    assert teller.writer.item_added({"type": "message"}) == 1
    await teller.writer.flush()
    added = [index for kind, index in teller.heard() if kind == "response.output_item.added"]
    assert added == [0, 1]


async def test_a_steer_cuts_a_throttled_answer_at_the_items_end() -> None:
    teller = Teller(TOKENS_S)
    teller.answer()
    teller.run.steered = True
    with pytest.raises(Steered):
        await teller.writer.flush()
    assert [item["type"] for item in teller.run.output] == ["reasoning"]


@each("concluded", [True, False])
def test_who_answers_cannot_say_the_key(concluded: bool) -> None:
    teller = Teller(None)
    teller.writer.served = f"model-{KEY}"
    teller.writer.tier = KEY
    teller.writer.note(duetto_provider=KEY, duetto_rate_limits=json.dumps({"limit": KEY}))
    if concluded:
        usage = {"input_tokens": 1, "of": KEY}
        told = {"model": KEY, "service_tier": KEY, "usage": usage, "incomplete_details": KEY}
        teller.writer.conclude("completed", told)
    else:
        teller.writer.finish()
    assert KEY not in json.dumps(sent(teller.server))


def test_a_vendors_event_cannot_say_the_key() -> None:
    teller = Teller(None)
    limits = {"type": "codex.rate_limits", "sequence_number": 3, "limits": {"of": KEY}, "n": 1}
    teller.writer.pass_on(limits)
    assert not teller.writer.began
    last = sent(teller.server)[-1]
    assert (last["type"], last["n"]) == ("codex.rate_limits", 1)
    assert KEY not in json.dumps(last)


class Stand:
    """Turns, and what they told."""

    def __init__(self, tokens_s: float) -> None:
        self.run: Any = SimpleNamespace(tokens_s=None)
        self.turns = PacedOutput(TokenRate(cast(Any, self.run), tokens_s))
        self.changes: list[str] = []
        self.writes = 0

    async def write(self) -> None:
        self.writes += 1


async def test_what_follows_comes_behind_the_words_and_a_new_rate_counts_at_once() -> None:
    stand = Stand(2000)
    stand.turns.words("a" * 1000, stand.changes.append)
    stand.turns.say(lambda: stand.changes.append("|"))
    stand.turns.words("", stand.changes.append)
    stand.turns.words("b" * 1000, stand.changes.append)
    stand.turns.say(lambda: stand.changes.append("|"))
    stand.run.tokens_s = 4000
    began_s = time.monotonic()
    await stand.turns.release(stand.write)
    assert time.monotonic() - began_s > 0.08
    assert "".join(stand.changes) == "a" * 1000 + "|" + "b" * 1000 + "|"
    assert stand.writes > 5
