"""An endpoint that is asked by one HTTP request and answers in server-sent events.

What providers say of their limits in headers: how long to wait, and how much is left. Names
differ (``x-ratelimit-remaining-tokens``, ``anthropic-ratelimit-tokens-remaining``), and so does
the time when a limit is lifted: ``6m0s``, seconds, a date, Unix time in seconds or ms.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import math
import re
import time
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Protocol
from urllib.parse import urlsplit

from msgspec.structs import replace

from tui.bridge.endpoints.base import Asked, Broken, ModelFacts, Refused, Target, Unusable
from tui.bridge.endpoints.response_writer import ResponseWriter
from tui.bridge.providers.catalogue import EndpointModels
from tui.bridge.time_slices import Share, aside, in_turns, others
from tui.bridge.upstream.client import MOST_REFUSAL_BYTES, Upstream, UpstreamAnswer
from tui.bridge.upstream.errors import CutError, excerpt
from tui.bridge.upstream.sse import (
    MAX_MESSAGE_BYTES,
    Message,
    OversizeError,
    SseParser,
    read_in_steps,
    value_of,
)
from tui.core.wire.address import Address, redirect_shown
from tui.core.wire.json_reading import SHORT_BYTES
from tui.core.wire.rate_limits import pause_header, retry_after_s
from tui.errors import EndpointError

_MOST_TOLD = 12
_MOST_CHARS = 512
"""Of a value of a response's metadata, as the Responses API has it."""
_LONGEST_S = 86_400.0
_DURATION = re.compile(
    r"(?:(?P<d>[\d.]+)d)?(?:(?P<h>[\d.]+)h)?(?:(?P<m>[\d.]+)m(?!s))?(?:(?P<s>[\d.]+)s)?"
    r"(?:(?P<ms>[\d.]+)ms)?"
)
_SECONDS = {"d": 86_400.0, "h": 3600.0, "m": 60.0, "s": 1.0, "ms": 0.001}
_UNIX_S, _UNIX_MS = 1e9, 1e12


def pause_s(headers: Mapping[str, str], unix_s: float) -> float | None:
    """How long to leave a provider alone that refused for its limits; None: it does not say.

    ``Retry-After`` first, Azure's ``retry-after-ms``; else until the last of those limits is
    lifted that have nothing left.
    """
    told = {name.lower(): value.strip() for name, value in headers.items()}
    if (exact := _number(told.get("retry-after-ms", ""))) is not None:
        return exact / 1000
    pause = retry_after_s(told, unix_s)
    if pause is not None:
        return pause
    waits = [
        wait
        for name, value in told.items()
        if "ratelimit" in name and "reset" in name
        if _number(told.get(name.replace("reset", "remaining"), "")) == 0
        if (wait := _until(value, unix_s)) is not None
    ]
    return max(waits, default=None)


def left(headers: Mapping[str, str], unix_s: float) -> str:
    """The limits and what is left of them, as JSON of the headers' names; empty: not said.

    When one is lifted is said in seconds, whatever its provider says: clocks differ.
    """
    told = {name.lower(): value for name, value in headers.items() if "ratelimit" in name.lower()}
    for name, value in told.items():
        if "reset" in name and (wait := _until(value.strip(), unix_s)) is not None:
            told[name] = format(wait, ".6g")
    text = json.dumps(dict(sorted(told.items())[:_MOST_TOLD])) if told else ""
    return text if len(text) <= _MOST_CHARS else ""


def _until(text: str, unix_s: float) -> float | None:
    number = _number(text)
    if number is not None:
        if number >= _UNIX_S:
            number = (number / 1000 if number >= _UNIX_MS else number) - unix_s
        return min(max(number, 0.0), _LONGEST_S)
    found = _DURATION.fullmatch(text)
    if text and found is not None:
        parts = [(_number(found[unit] or ""), each) for unit, each in _SECONDS.items()]
        return min(sum((count or 0.0) * each for count, each in parts), _LONGEST_S)
    try:
        wait = datetime.fromisoformat(text).timestamp() - unix_s
    except (ValueError, OverflowError, OSError):
        return None
    return min(max(wait, 0.0), _LONGEST_S)


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if 0 <= number < math.inf else None


_DONE = b"[DONE]"
MOST_ANSWER_BYTES = 256 * 1024 * 1024
"""Of one stream: ten times the longest answers, whose tokens have 100 to 200 bytes each."""
_DRAIN_S = 0.2
"""A connection whose response has ended is read to its end so long, to be used again."""
_REFUSAL_S = 3.0
"""The words of a refusal are waited for so long, and what may follow on text that is no event, or
on a whole object."""
_NEXT_LINE_S = 30.0
"""The same behind an object and the end of its line: another object may come."""
_OF_LINES = ("application/x-ndjson", "application/ndjson", "application/jsonl")
MOST_WAIT_S = 30 * 60.0
"""How long comments, pings and empty lines are taken for life; the longest thoughts are shorter."""
_BOM = b"\xef\xbb\xbf"
_SLICE_BYTES = 1024
"""Of a stream between two looks at the clock: 1 ms if all its lines are empty."""
_FIELDS = (b":", b"data", b"event", b"id", b"retry")
_COUNT_S = 2.0
"""Behind an answer that is whole, its count or its end is waited for so long."""


class Reader(Protocol):
    """Reads one answer in one provider's language and tells a run of it.

    One for which some long messages are too much at once has ``hear_long``, which takes a message
    in steps, between which others have their turn. One that knows before the end that the answer
    is whole says so in ``settled``: then its count and the end of the stream are not waited for
    long.
    """

    def hear(self, message: Message) -> None:
        """One server-sent message, in its order."""

    def hear_whole(self, message: Message) -> None:
        """An answer that came as one JSON object."""

    def refuse(self, status: int, body: bytes, headers: dict[str, str], host: str) -> None:
        """An HTTP status of no success. Raises Refused."""

    def cut(self, host: str, *, marked: bool) -> None:
        """The stream is over; ``marked``: it said so itself (``[DONE]``). May raise Broken."""


class Language(Protocol):
    """How a kind of endpoint is asked over HTTP."""

    def request(self, asked: Asked, target: Target) -> tuple[Address, bytes]:
        """The URL, all headers, and the body of a POST. Raises Refused: it cannot be asked."""

    def reader(self, asked: Asked, target: Target, writer: ResponseWriter) -> Reader:
        """Who reads the answer."""


class HttpEndpoint:
    """See `endpoints.kinds.ModelEndpoint`."""

    def __init__(self, target: Target, language: Language, upstream: Upstream) -> None:
        self._target = target
        self._language = language
        self._upstream = upstream
        self._host = urlsplit(target.address.url).hostname or ""
        self._models = EndpointModels(target, upstream)

    async def answer(self, asked: Asked, writer: ResponseWriter) -> None:
        """See `ModelEndpoint`."""
        asked = await self._models.prepared(asked, writer)
        try:
            await self._asked(asked, writer)
        except Refused as error:
            raise await self._models.explained(error, asked.model) from error
        except EndpointError as error:
            raise Refused(400, "proxy_not_supported", str(error)) from error
        except OversizeError as error:
            raise Unusable(f"{self._host} sent an event of more than 32 MiB.") from error

    async def _asked(self, asked: Asked, writer: ResponseWriter) -> None:
        def made() -> tuple[tuple[Address, bytes], Reader]:
            request = self._language.request(asked, self._target)
            return request, self._language.reader(asked, self._target, writer)

        (address, body), reader = await aside(asked, made, writer.reckon)
        async with self._upstream.post(address, body) as response:
            if 200 <= response.status < 300:
                await self._read(response, writer, reader)
            else:
                await self._refuse(response, reader)

    async def warm(self) -> None:
        """See `ModelEndpoint`."""
        address = self._target.address
        if address.url.startswith("ws"):
            address = replace(address, url=f"http{address.url.removeprefix('ws')}")
        await self._upstream.warm(address)

    async def models(self) -> dict[str, ModelFacts]:
        """See `ModelEndpoint`."""
        return await self._models.all()

    async def close(self) -> None:
        """See `ModelEndpoint`: the connections are the upstream's."""
        await self._models.close()

    async def _read(self, response: UpstreamAnswer, writer: ResponseWriter, reader: Reader) -> None:
        """What it is, its first bytes say: headers are wrong as often as not."""
        kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
        begun = await self._begun(response)
        is_json = begun[:1] in (b"{", b"[")
        is_page = kind == "text/html" and not (is_json or (begun and _is_field(begun)))
        if is_page or begun.startswith(b"<"):
            said = f' ("{title}")' if (title := excerpt(begun)) else ""
            words = f"{self._host} answered with a web page{said}: is the url that of an endpoint?"
            raise Refused(400, "not_an_endpoint", words)
        if limits := left(response.headers, time.time()):
            writer.note(duetto_rate_limits=limits)
        if is_json and kind not in _OF_LINES:
            body, goes_on = await _body(response, begun, MAX_MESSAGE_BYTES)
            if not goes_on:
                reader.hear_whole(await in_turns(read_in_steps(Message("", body))))
                return
            begun = bytes(body)
        await self._stream(response, writer, reader, begun)

    async def _begun(self, response: UpstreamAnswer) -> bytes:
        """The first bytes that are not blank: servers send empty lines while they work."""
        until_s = asyncio.get_running_loop().time() + MOST_WAIT_S
        while chunk := await response.chunk():
            if begun := chunk.removeprefix(_BOM).lstrip():
                return begun
            self._check_patience(until_s)
        return b""

    async def _stream(
        self, response: UpstreamAnswer, writer: ResponseWriter, reader: Reader, chunk: bytes
    ) -> None:
        """Events as they come, until the response or the stream is over."""
        heard = _Heard(self._host, writer, reader)
        until_s: float | None = None
        told, patient_s = -1, 0.0
        while chunk:
            heard.begin(chunk)
            await heard.goes_on()
            if writer.flushed() and not heard.ending:
                await response.follow(heard.take)
                await heard.goes_on()
            await writer.flush()
            if writer.told == told:
                self._check_patience(patient_s)
            else:
                told, now_s = writer.told, asyncio.get_running_loop().time()
                patient_s = now_s + MOST_WAIT_S
                # Some say how it ended with each piece: it has ended when nothing more is said.
                until_s = now_s + _COUNT_S if heard.settled else until_s
            if heard.over or writer.done:
                reader.cut(self._host, marked=heard.over)
                await _drain(response)
                return
            try:
                astray_s = asyncio.get_running_loop().time() + _REFUSAL_S
                chunk = await _more(response, until_s or (astray_s if heard.astray else None))
            except CutError:
                heard.end(cut=True)
                await heard.goes_on()
                raise
        heard.end()
        await heard.goes_on()
        await writer.flush()  # how it ended is judged by what was told
        reader.cut(self._host, marked=heard.over)

    def _check_patience(self, until_s: float) -> None:
        """Raises Broken: nothing but signs of life came till then (of the loop's clock)."""
        if asyncio.get_running_loop().time() > until_s:
            raise Broken(f"{self._host} gave signs of life for too long, and no more of an answer.")

    async def _refuse(self, response: UpstreamAnswer, reader: Reader) -> None:
        if 300 <= response.status < 400:
            # Followed, the key would travel to wherever the server says.
            goal = redirect_shown(self._target.address.url, response.headers.get("location"))
            words = (
                f"{self._host} redirects to {goal} (HTTP status {response.status}): the key is not "
                "taken there. Set the endpoint's url to where it really is."
            )
            raise Refused(400, "endpoint_redirects", words)
        body = await _excerpt(response)
        headers = pause_header(pause_s(response.headers, time.time()))
        status = response.status if response.status >= 400 else 502
        reader.refuse(status, body, headers, self._host)


def _is_field(begun: bytes) -> bool:
    """Whether events may begin so."""
    return any(begun.startswith(name[: len(begun)]) for name in _FIELDS)


class _Heard:
    """What was heard of a stream of events."""

    def __init__(self, host: str, writer: ResponseWriter, reader: Reader) -> None:
        self._host, self._writer, self._reader = host, writer, reader
        self._parser = SseParser()
        self._size_bytes = 0
        self._told = -1
        self._error: Exception | None = None
        self._steps: Iterator[bool] = iter(())
        """What is still to be told of what came."""
        self.over = False
        """It said so (``[DONE]``)."""

    @property
    def settled(self) -> bool:
        """See `Reader`."""
        return bool(getattr(self._reader, "settled", False))

    @property
    def astray(self) -> bool:
        """The last that came is text that is no event."""
        return self._parser.astray

    @property
    def ending(self) -> bool:
        """Little more is waited for."""
        return self.over or self._writer.done or self.settled or self.astray

    def begin(self, chunk: bytes) -> None:
        """Take a piece; `goes_on` tells of it. Raises Broken: there is no end to them."""
        self._size_bytes += len(chunk)
        if self._size_bytes > MOST_ANSWER_BYTES:
            raise Unusable(f"{self._host} does not come to an end: its answer is too large.")
        slices = (chunk[at : at + _SLICE_BYTES] for at in range(0, len(chunk), _SLICE_BYTES))
        self._steps = self._told_of(self._parser.feed(one) for one in slices)

    def end(self, *, cut: bool = False) -> None:
        """There is no more: a last message may lack its end; `goes_on` tells of it.

        Text that is no message is told as an error; ``cut``: it alone.
        """
        messages = [one for one in self._parser.end() if not _is_torn(one.data)]
        words = excerpt(self._parser.stray)
        stray = [Message("error", words.encode())] if words else []
        self._steps = self._told_of([stray if cut else messages + stray])

    async def goes_on(self) -> None:
        """Tell all that is left to tell, and write it, between turns of others.

        Raises what `take` did not, Broken, and as `Reader.hear`.
        """
        if self._error is not None:
            raise self._error
        for is_due in self._steps:
            if is_due or self._writer.paced:
                await self._writer.flush()
            if is_due:
                await others()

    def take(self, chunk: bytes) -> bool:
        """Tell of a piece and have it written; False: it said nothing, or `goes_on` is wanted.

        It raises nothing, for it is called by the connection.
        """
        try:
            self.begin(chunk)
            if any(self._steps):
                return False
            told, self._told = self._told, self._writer.told
            return self._writer.flushed() and self._told != told and not self.ending
        except Exception as error:
            self._error = error
            return False

    def _told_of(self, parsed: Iterable[list[Message]]) -> Iterator[bool]:
        """Tell message by message: True where others are due a turn, False behind each message."""
        share = Share()
        for messages in parsed:
            for message in messages:
                self.over = self.over or message.data == _DONE
                if not self.over:
                    if len(message.data) > SHORT_BYTES:
                        yield from self._hear_long(message, share)
                    else:
                        self._reader.hear(message)
                yield False
            if share.spent:
                yield True
                share.begin()

    def _hear_long(self, message: Message, share: Share) -> Iterator[bool]:
        for _ in self._long_steps(message):
            if share.spent:
                yield True
                share.begin()

    def _long_steps(self, message: Message) -> Iterator[None]:
        message = yield from read_in_steps(message)
        in_steps = getattr(self._reader, "hear_long", None)
        if in_steps is None:
            self._reader.hear(message)
        else:
            yield from in_steps(message)


def _is_torn(data: bytes | bytearray) -> bool:
    """Whether an object of JSON broke off."""
    return data.startswith(b"{") and not data.rstrip().endswith(b"}")


async def _more(response: UpstreamAnswer, until_s: float | None) -> bytes:
    """The next bytes; empty at the end, and where none come till then (of the loop's clock)."""
    if until_s is None:
        return await response.chunk()
    try:
        async with asyncio.timeout_at(until_s):
            return await response.chunk()
    except (TimeoutError, CutError):
        return b""


async def _body(response: UpstreamAnswer, begun: bytes, most_bytes: int) -> tuple[bytearray, bool]:
    """The whole body, which has begun; True: it has one message a line, and more may come.

    Raises OversizeError if it is larger.
    """
    body, laid_out = bytearray(begun), False
    while True:
        if not laid_out and b"\n" in body:
            first, _, rest = body.partition(b"\n")
            rest = rest.lstrip()
            if rest and _is_whole(first) and (rest.startswith(b"{") or _is_field(bytes(rest))):
                return body, True
            laid_out = bool(rest)
        until_s = None
        if _is_whole(body):  # its server may keep the line; behind a line there may be another
            wait_s = _NEXT_LINE_S if body.endswith(b"\n") else _REFUSAL_S
            until_s = asyncio.get_running_loop().time() + wait_s
        chunk = await _more(response, until_s)
        if not chunk:
            return body, False
        body += chunk
        if len(body) > most_bytes:
            raise OversizeError


def _is_whole(body: bytes | bytearray) -> bool:
    """Whether it is an object of JSON; of long ones that is not known."""
    if len(body) > SHORT_BYTES or body.rstrip()[-1:] not in (b"}", b"]"):
        return False
    try:
        return isinstance(value_of(bytes(body)), dict)
    except (Broken, ValueError):
        return False


async def _excerpt(response: UpstreamAnswer) -> bytes:
    """The body of a refusal, as far as it comes soon: the status has said the most."""
    pieces: list[bytes] = []
    with contextlib.suppress(TimeoutError, CutError):
        async with asyncio.timeout(_REFUSAL_S):
            while sum(map(len, pieces)) <= MOST_REFUSAL_BYTES:
                chunk = await response.chunk()
                if not chunk:
                    break
                pieces.append(chunk)
    return b"".join(pieces)


async def _drain(response: UpstreamAnswer) -> None:
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(_DRAIN_S):
            while await response.chunk():
                pass
