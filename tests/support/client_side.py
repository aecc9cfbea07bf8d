"""A client protocol under test, and the server's words in short."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from tui.core.wire import events
from tui.core.wire.client.lane import LaneState
from tui.core.wire.client.protocol import ClientProtocol
from tui.core.wire.endpoint_facts import Capabilities

MODEL = "m"
UNKNOWN_EVENT: dict[str, Any] = {
    "status": 400,
    "error": {"type": "invalid_request_error", "message": "Unknown event type."},
}


class ClientSide:
    """One `ClientProtocol`; every word of the server returns what was handed on."""

    def __init__(self, capabilities: Capabilities | None = None) -> None:
        self.client = ClientProtocol(capabilities)
        self.now = 0.0

    @property
    def known(self) -> Capabilities:
        """What the client has learnt."""
        return self.client.capabilities

    def busy(self) -> bool:
        """Someone waits for a response."""
        return self.client.busy

    def state(self, lane: str | None = None) -> LaneState:
        """What a lane is doing."""
        return self.client.lane(lane).state

    def ask(self, lane: str | None = None, **request: Any) -> list[dict[str, Any]]:
        """Create; the frames that go out."""
        self.client.create({"model": MODEL, **request}, lane, self.now)
        return self.sent()

    def sent(self) -> list[dict[str, Any]]:
        """The frames that go out now."""
        return [json.loads(text) for text in self.client.data_to_send()]

    def got(self) -> list[events.Event]:
        """What is handed on now."""
        return self.client.events_received()

    def say(self, kind: str, lane: str | None = None, **fields: Any) -> list[events.Event]:
        """Any event of the server."""
        named = {} if lane is None else {"stream_id": lane}
        event = {"type": kind, **named, **fields}
        self.client.receive_text(json.dumps(event).encode(), self.now)
        return self.got()

    def created(
        self, name: str = "resp_1", lane: str | None = None, **fields: Any
    ) -> list[events.Event]:
        """A response begins."""
        return self.say("response.created", lane, response={"id": name, **fields})

    def in_progress(self, name: str = "resp_1", lane: str | None = None) -> list[events.Event]:
        """The model works."""
        return self.say("response.in_progress", lane, response={"id": name})

    def delta(self, text: str = "x", lane: str | None = None) -> list[events.Event]:
        """A piece of text."""
        return self.say("response.output_text.delta", lane, item_id="i", delta=text)

    def item(self, lane: str | None = None, **item: Any) -> list[events.Event]:
        """A finished item."""
        return self.say("response.output_item.done", lane, output_index=0, item=item)

    def call(self, lane: str | None = None) -> list[events.Event]:
        """A finished call of a client tool."""
        item = {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"}
        return self.item(lane, **item)

    def completed(self, name: str = "resp_1", lane: str | None = None) -> list[events.Event]:
        """A response is whole."""
        return self.say("response.completed", lane, response={"id": name})

    def incomplete(
        self, reason: str, name: str = "resp_1", lane: str | None = None
    ) -> list[events.Event]:
        """A response is cut short."""
        response = {"id": name, "incomplete_details": {"reason": reason}}
        return self.say("response.incomplete", lane, response=response)

    def failed(self, name: str = "resp_1", lane: str | None = None) -> list[events.Event]:
        """A response is given up."""
        error = {"code": "server_error", "message": "broken"}
        return self.say("response.failed", lane, response={"id": name, "error": error})

    def error(
        self, status: int | None = 400, lane: str | None = None, **error: Any
    ) -> list[events.Event]:
        """An `error` event."""
        fields = {} if status is None else {"status": status}
        return self.say("error", lane, **fields, error=error)

    def accepted(self, steer: str, parent: str = "resp_1") -> list[events.Event]:
        """A steering text was accepted."""
        named = {"id": steer, "previous_response_id": parent}
        return self.say("response.steer.accepted", steer=named)

    def steer_failed(
        self, code: str, parent: str = "resp_1", text: str = "", name: str = ""
    ) -> list[events.Event]:
        """A steering text comes back; ``name``: the server's id of it."""
        named = {"id": name} if name else {}
        steer = {**named, "previous_response_id": parent, "input": text}
        return self.say("response.steer.failed", steer=steer, error={"code": code, "message": ""})

    def wait(self, seconds: float) -> list[events.Event]:
        """Time passes, tick by tick."""
        end = self.now + seconds
        while (due := self.client.deadline()) is not None and due <= end:
            self.now = max(self.now, due)
            self.client.tick(self.now)
        self.now = end
        return self.got()

    def streaming(self, lane: str | None = None, name: str = "resp_1") -> ClientSide:
        """Be in the middle of a response."""
        self.ask(lane)
        self.created(name, lane)
        self.delta("x", lane)
        return self


def fates(got: list[events.Event]) -> list[tuple[int, str]]:
    """Number and fate of every steering text that is told of."""
    return [(one.number, one.fate) for one in got if isinstance(one, events.SteerNews)]


def kinds(got: list[events.Event]) -> list[str]:
    """The types of events."""
    return [type(event).__name__ for event in got]


def heard(got: list[events.Event]) -> list[str]:
    """What is handed on, in short: the types of events, and the fates of texts."""
    return [
        f"{one.number} {one.fate}" if isinstance(one, events.SteerNews) else type(one).__name__
        for one in got
    ]


def frame(sent: dict[str, Any]) -> str:
    """A frame that went out, in short: ``create @b``, ``steer #1``, ``interrupt #2``."""
    kind = str(sent["type"]).removeprefix("response.")
    about = sent.get("previous_response_id") or sent.get("response_id")
    lane = f" @{sent['stream_id']}" if "stream_id" in sent else ""
    return kind + lane + (f" #{about.removeprefix('resp_')}" if about else "")


Step = Callable[[ClientSide, str | None, str, str], Any]


def _ask(side: ClientSide, lane: str | None, name: str, how: str) -> None:
    parent = {"previous_response_id": name} if how == "after" else {}
    ahead = {"generate": False} if how == "ahead" else {}
    side.client.create({"model": MODEL, **parent, **ahead}, lane, side.now)


def _steer(side: ClientSide, lane: str | None, name: str, how: str) -> None:
    assert (side.client.steer("smaller", lane, side.now) is None) == (how == "cannot")


def _refuse(side: ClientSide, lane: str | None, name: str, rest: str) -> list[events.Event]:
    code, _, steer = rest.partition(" ")
    return side.steer_failed(code, name, name=steer)


def _error(side: ClientSide, lane: str | None, name: str, rest: str) -> list[events.Event]:
    status, _, code = rest.partition(" ")
    return side.error(None if status == "-" else int(status), lane, code=code)


STEPS: dict[str, Step] = {
    "ask": _ask,
    "stream": lambda side, lane, name, rest: side.streaming(lane, name),
    "steer": _steer,
    "stop": lambda side, lane, name, rest: side.client.interrupt(lane, side.now),
    "abandon": lambda side, lane, name, rest: side.client.abandon(lane),
    "lose": lambda side, lane, name, rest: side.client.connection_lost("the connection broke"),
    "wait": lambda side, lane, name, rest: side.wait(float(rest)),
    "begin": lambda side, lane, name, rest: side.created(name, lane),
    "queued": lambda side, lane, name, rest: side.say(
        "response.queued", lane, response={"id": name}
    ),
    "works": lambda side, lane, name, rest: side.in_progress(name, lane),
    "delta": lambda side, lane, name, rest: side.delta("x", lane),
    "call": lambda side, lane, name, rest: side.call(lane),
    "end": lambda side, lane, name, rest: side.completed(name, lane),
    "cut": lambda side, lane, name, rest: side.incomplete(rest, name, lane),
    "fail": lambda side, lane, name, rest: side.failed(name, lane),
    "accept": lambda side, lane, name, rest: side.accepted(rest, name),
    "refuse": _refuse,
    "pending": lambda side, lane, name, rest: side.say(
        "response.steer.pending", steer={"id": rest, "previous_response_id": name}
    ),
    "error": _error,
    "unknown": lambda side, lane, name, rest: side.say("error", lane, **UNKNOWN_EVENT),
}


def _knows(side: ClientSide, what: str) -> None:
    known: dict[str, Any] = {"prewarm": side.known.prewarm, "lanes": side.known.lanes}
    known |= {"steer": side.known.steer.get(MODEL), "interrupt": side.known.interrupt.get(MODEL)}
    answer, _, ability = f" {what}".rpartition(" ")
    assert known[ability] is {"": True, "no": False, "nothing of": None}[answer.strip()], what


class Dialogue:
    """A conversation in words, step by step, with ``/`` between them; what a step says is checked.

    The user: ``ask [after|ahead]``, ``steer [cannot]``, ``stop``, ``abandon``; time: ``wait S``;
    the network: ``lose``. The server: ``begin``, ``queued``, ``works``, ``delta``, ``call``,
    ``end``, ``cut REASON``, ``fail``, ``accept STEER``, ``refuse CODE [STEER]``,
    ``pending STEER``, ``error STATUS [CODE]``, ``unknown event``. ``stream``: asked, begun, and a
    delta came. ``@b`` names a lane, ``#2`` a response (else the first); ``-> ...`` is all that is
    handed on. Checks: ``sent ...`` the frames since the last look, ``is STATE``, ``busy``,
    ``free``, ``rests`` (nothing is due), ``drops``, ``stays``, ``elsewhere @b``,
    ``knows [no|nothing of] ABILITY``.
    """

    def __init__(self, side: ClientSide) -> None:
        self.side = side

    def play(self, script: str) -> None:
        """Play it to the end."""
        for step in " ".join(script.split()).split(" / "):
            words, arrow, wanted = step.partition(" -> ")
            verb, *rest = words.split()
            lane = next((word[1:] for word in rest if word[0] == "@"), None)
            name = "resp_" + next((word[1:] for word in rest if word[0] == "#"), "1")
            plain = " ".join(word for word in rest if word[0] not in "@#")
            if verb in STEPS:
                told = STEPS[verb](self.side, lane, name, plain)
                said = heard(told if isinstance(told, list) else self.side.got())
                assert not arrow or ", ".join(said) == wanted.replace("nothing", ""), (step, said)
            else:
                self.check(verb, lane, " ".join(rest), plain)

    def check(self, verb: str, lane: str | None, said: str, plain: str) -> None:
        """Look at what is so now."""
        client = self.side.client
        match verb:
            case "sent":
                frames = ", ".join(map(frame, self.side.sent()))
                assert frames == said.replace("nothing", ""), (said, frames)
            case "is":
                assert client.lane(lane).state.name == plain, (said, client.lane(lane).state)
            case "busy" | "free":
                assert client.busy is (verb == "busy"), verb
            case "rests":
                assert client.deadline() is None, client.deadline()
            case "drops" | "stays":
                assert client.should_drop is (verb == "drops"), verb
            case "knows":
                _knows(self.side, plain)
            case "elsewhere":
                assert [name for name, _ in client.unroutable()] == [lane], said
            case _:
                raise ValueError(f"no step: {verb} {said}")
