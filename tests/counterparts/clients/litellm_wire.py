"""duetto's wire (`tui.effects.wire`) with LiteLLM as the server: what a user does not see."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Any

from checks import scenario, want
from litellm_proxy import KEY, LIMIT_S, Proxy

from tests.support.fault_stand import seated
from tests.support.nasty_server import Nasty
from tui.core.wire import events
from tui.core.wire.address import Address
from tui.core.wire.endpoint_facts import Capabilities
from tui.effects.bridge_process import BridgeProcess
from tui.effects.system import MonotonicClock
from tui.effects.wire.link import ConnectionOptions
from tui.effects.wire.endpoint import Endpoint

MODEL = "managed-model"
CALL = {
    "type": "function",
    "name": "exec_command",
    "description": "run",
    "parameters": {"type": "object", "properties": {"cmd": {"type": "string"}}},
}


class Line:
    """A lane that is listened to."""

    def __init__(self, endpoint: Endpoint, name: str) -> None:
        self.wire = endpoint.lane(name)
        self.events: list[events.Event] = []
        self.states: list[tuple[str, str]] = []
        self._news = asyncio.Event()
        self.wire.on_event = self._event
        self.wire.on_state = self._state

    def _event(self, event: events.Event, now: float) -> None:
        self.events.append(event)
        self._news.set()

    def _state(self, state: str, reason: str) -> None:
        self.states.append((state, reason))
        self._news.set()

    async def until(self, done: Callable[[], Any], what: str, seconds: float = 20.0) -> None:
        """Wait for it. Raises TimeoutError."""
        try:
            async with asyncio.timeout(seconds):
                while not done():
                    self._news.clear()
                    await self._news.wait()
        except TimeoutError:
            raise TimeoutError(f"{what} did not come within {seconds:g} s") from None

    def count(self, kind: type) -> int:
        """So many events of that type came."""
        return sum(isinstance(event, kind) for event in self.events)

    @property
    def text(self) -> str:
        """All prose so far."""
        return "".join(e.delta for e in self.events if isinstance(e, events.TextDelta))

    def create(self, text: str, **fields: Any) -> None:
        """Ask."""
        message = {"type": "message", "role": "user"}
        item = {**message, "content": [{"type": "input_text", "text": text}]}
        self.wire.create({"model": MODEL, "store": False, "input": [item], **fields})

    async def turn(self, text: str, **fields: Any) -> events.Completed:
        """Ask and wait for the end."""
        await self.wire.open()
        seen = self.count(events.Completed)
        self.create(text, **fields)
        await self.until(lambda: self.count(events.Completed) > seen, "the end")
        end = self.events[-1]
        assert isinstance(end, events.Completed)
        return end


class Bench:
    """An endpoint of its own for a scenario."""

    def __init__(self, proxy: Proxy) -> None:
        async def address() -> Address:
            return Address(proxy.url, {"Authorization": f"Bearer {KEY}"})

        self.capabilities = Capabilities()
        self.endpoint = Endpoint(
            "litellm",
            address,
            MonotonicClock(),
            capabilities=self.capabilities,
        )

    async def __aenter__(self) -> Bench:
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self.endpoint.close()

    def line(self, name: str = "main") -> Line:
        """A lane of it."""
        return Line(self.endpoint, name)


async def chained(proxy: Proxy) -> None:
    with scenario("wire: chaining, prewarm, tool round trip"):
        async with Bench(proxy) as bench:
            line = bench.line()
            await line.wire.open()
            line.wire.create({"model": MODEL, "store": False, "input": [], "generate": False})
            await line.until(lambda: line.count(events.Completed), "the prewarm's end")
            first = await line.turn("SHELL please", tools=[CALL])
            done = [e.item for e in line.events if isinstance(e, events.ItemDone)]
            calls = [item for item in done if item["type"] == "function_call"]
            want(len(calls) == 1, f"calls {calls}")
            output = {"type": "function_call_output", "call_id": calls[0]["call_id"]}
            about = {"previous_response_id": first.response_id, "tools": [CALL]}
            await line.turn("", **about, input=[{**output, "output": "hi"}])
            want("nitems=3" in line.text, f"the chain was lost: {line.text}")
            want(bench.capabilities.prewarm is True, f"prewarm {bench.capabilities.prewarm}")
    with scenario("wire: an unknown parent is taken silently, so chaining can be switched off"):
        async with Bench(proxy) as bench:
            line = bench.line()
            await line.turn("hello", previous_response_id="resp_nowhere")
            want(not line.count(events.ErrorEvent), "an error came after all")


async def silent(proxy: Proxy) -> None:
    with scenario("wire: interrupt against silence, then the next turn"):
        async with Bench(proxy) as bench:
            line, clock = bench.line(), asyncio.get_running_loop()
            await line.wire.open()
            line.create("SLOW story")
            await line.until(lambda: line.count(events.TextDelta) >= 3, "text")
            cancelled = len(proxy.ended())
            seen, start_s = len(line.events), clock.time()
            line.wire.interrupt()
            await line.until(lambda: not line.wire.busy, "the lane", 3)
            late_s = clock.time() - start_s
            want(0.7 < late_s < 1.6, f"the lane was free after {late_s:.2f} s")
            late = [e for e in line.events[seen:] if isinstance(e, events.Delta)]
            want(not late, f"text after the interrupt: {late}")
            want(line.wire.abilities(MODEL).interrupt is False, "silence was not learnt")
            before = line.text
            await line.turn("hello")
            want("Upstream responses" in line.text.removeprefix(before), "no next turn")
            want(len(bench.endpoint.views()) == 1, f"{len(bench.endpoint.views())} sockets")
            said = proxy.ended()[cancelled:]
            want(any(s.startswith("cancelled") for s in said), f"the upstream ran on: {said}")
            line.create("SLOW story")
            await line.until(lambda: line.text.count("w0 ") >= 2 + before.count("w0 "), "text")
            start_s = clock.time()
            line.wire.interrupt()
            await line.until(lambda: not line.wire.busy, "the lane", 3)
            late_s = clock.time() - start_s
            want(late_s < 0.5, f"known silence still took {late_s:.2f} s")
    with scenario("wire: steer against silence"):
        async with Bench(proxy) as bench:
            line = bench.line()
            await line.wire.open()
            line.create("SLOW story")
            await line.until(lambda: line.count(events.TextDelta) >= 3, "text")
            number = line.wire.steer("and this")
            want(number is not None, "nothing was sent")
            await line.until(lambda: line.count(events.SteerNews), "the steer's fate", 10)
            news = [e for e in line.events if isinstance(e, events.SteerNews)]
            told = [(e.number, e.fate, e.text) for e in news if e.fate in ("used", "returned")]
            want(told == [(number, "returned", "and this")], str(told))
            await line.until(lambda: line.count(events.Completed), "the end")
            want(line.wire.abilities(MODEL).steer is False, "silence was not learnt")
            want(line.wire.steer("again") is None, "it would steer again")


async def two_lanes(proxy: Proxy) -> None:
    with scenario("wire: no stream_id comes back, so each conversation gets a socket"):
        async with Bench(proxy) as bench:
            one, two = bench.line("main"), bench.line("second")
            await one.wire.open()
            await two.wire.open()
            one.create("SLOW story")
            two.create("hello")
            await two.until(lambda: two.count(events.Completed), "the second's end", 10)
            want(not one.count(events.Completed), "they ran one after the other")
            await one.until(lambda: one.count(events.Completed), "the first's end", 15)
            want(bench.capabilities.lanes is False, f"lanes {bench.capabilities.lanes}")
            want(len(bench.endpoint.views()) == 2, f"{len(bench.endpoint.views())} sockets")
            want(one.text.count("nitems=1") == 1 and "w59" in one.text, one.text)
            want(two.text.count("nitems=1") == 1 and "w59" not in two.text, two.text)
            want(not [s for s in one.states + two.states if s[0] == "closed"], "seen by the user")


async def idle_limit(proxy: Proxy) -> None:
    with scenario(f"wire: closed at {LIMIT_S} s while idle, the next turn works"):
        async with Bench(proxy) as bench:
            line = bench.line()
            await line.turn("hello")
            await line.until(
                lambda: any(state == "closed" for state, _ in line.states)
                or not bench.endpoint.views(),
                "the limit", LIMIT_S + 10,
            )  # fmt: skip
            want(not line.count(events.ErrorEvent), "an error was told")
            learnt_s = bench.capabilities.max_age_s or 0
            want(abs(learnt_s - LIMIT_S) < 5, f"the limit was learnt as {learnt_s} s")
            await line.turn("hello")
            want(line.text.count("nitems=1") == 2, line.text)


async def busy_limit(proxy: Proxy) -> None:
    with scenario(f"wire: closed at {LIMIT_S} s in the middle, the same turn works again"):
        async with Bench(proxy) as bench:
            line = bench.line()
            await line.turn("hello")
            await asyncio.sleep(LIMIT_S - 1.5)
            line.create("SLOW story")
            await line.until(
                lambda: line.states[-1][0] == "closed" or line.count(events.Completed) == 2,
                "the limit", 15,
            )  # fmt: skip
            want(line.states[-1][0] == "closed", "the limit did not come while it was busy")
            await line.turn("hello")
            want(not line.count(events.ErrorEvent), "an error was told")


async def conversation(proxy: Proxy) -> None:
    with scenario(f"session: a turn before, at and after {LIMIT_S} s, and nobody notices"):
        async with Bench(proxy) as bench, seated(bench.endpoint, Nasty([]), MODEL) as at:
            await at.seat.ask("hello")
            await asyncio.sleep(LIMIT_S - 1.5)
            await at.seat.ask("SLOW story")
            await at.seat.ask("hello")
            want(at.session.status.outcome == "completed", at.session.status.outcome)
            want(not at.troubles, f"told: {at.troubles}")
            want(len(at.whole) == 3, f"{len(at.whole)} whole answers: {at.whole}")
            want(at.whole[1].count("w59") == 1, f"the answer that was cut: {at.whole[1]}")
            want(len(at.broken) == 1, f"it was not cut: {at.broken}")
            want(bench.endpoint.views()[0].reconnects == 1, f"{bench.endpoint.views()}")


async def switched_off(proxy: Proxy) -> None:
    with scenario("session: without chaining every request says all"):
        async with Bench(proxy) as bench:
            role = {"chaining": False}
            async with seated(bench.endpoint, Nasty([]), MODEL, **role) as at:
                for _ in range(3):
                    await at.seat.ask("hello")
                views = bench.endpoint.views()
                want(views[0].requests == 3, f"{views}")
                want(views[0].continued == 0, "it chained")
                counts = [int(t.partition("nitems=")[2].partition(" ")[0]) for t in at.whole]
                want(counts[0] < counts[1] < counts[2], f"items {counts}")


async def by_http(proxy: Proxy) -> None:
    with scenario("wire: HTTP+SSE through the bridge: turns, tool round trip, interrupt"):
        address = Address(proxy.url, {"Authorization": f"Bearer {KEY}"})
        headers = dict(address.headers)
        told = {"kind": "openai-responses", "url": address.url, "headers": headers}
        bridge = BridgeProcess(endpoints={"litellm": told})
        try:
            endpoint = Endpoint(
                "litellm",
                bridge.address,
                MonotonicClock(),
                options=ConnectionOptions(transport="http"),
                fallback=partial(bridge.address, "litellm"),
            )
            line = Line(endpoint, "main")
            first = await line.turn("SHELL please", tools=[CALL])
            want(line.wire.transport == "http", line.wire.transport)
            done = [e.item for e in line.events if isinstance(e, events.ItemDone)]
            calls = [item for item in done if item["type"] == "function_call"]
            output = {"type": "function_call_output", "call_id": calls[0]["call_id"]}
            about = {"previous_response_id": first.response_id, "tools": [CALL]}
            end = await line.turn("", **about, input=[{**output, "output": "hi"}])
            want("nitems=3" in line.text, f"not all was sent: {line.text}")
            want(events.usage_of(end.response), "no usage")
            cancelled = sum(one.startswith("cancelled") for one in proxy.ended())
            line.create("SLOW story")
            await line.until(lambda: line.text.count("w0 w1 w2") == 2, "text")
            line.wire.interrupt()
            frozen = line.text
            await line.until(lambda: not line.wire.busy, "the lane", 2)
            await line.turn("hello")
            want(line.text.startswith(frozen), "text after the interrupt")
            want("closed" not in [state for state, _ in line.states], f"{line.states}")
            async with asyncio.timeout(3):
                while sum(one.startswith("cancelled") for one in proxy.ended()) == cancelled:
                    await asyncio.sleep(0.05)
            await endpoint.close()
        finally:
            await bridge.close()


async def play(proxy: Proxy) -> None:
    """All of it; the slow ones beside the others."""
    slow = [asyncio.create_task(one(proxy)) for one in (idle_limit, busy_limit, conversation)]
    for part in (chained, silent, two_lanes, switched_off, by_http):
        await part(proxy)
    await asyncio.gather(*slow)


