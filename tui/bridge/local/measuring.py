"""How fast this machine runs a model: asked by ``duetto doctor``."""

from __future__ import annotations

import time

import msgspec
from msgspec import Struct

from tui.bridge.endpoints.base import Broken
from tui.bridge.local.process import ModelServer
from tui.bridge.upstream.client import Upstream
from tui.core.typed_data import from_json
from tui.core.wire.json_writing import request_body

_TOKENS = 48
_TASK = "Count from 1 to 40, one number a line, and nothing else. " * 8
_MOST_BYTES = 1_000_000


class Timings(Struct, frozen=True):
    """As llama.cpp tells them."""

    prompt_per_second: float = 0.0
    predicted_per_second: float = 0.0


class _Timed(Struct, frozen=True):
    timings: Timings


class LocalSpeed(Struct, frozen=True):
    """Of one model."""

    ready_s: float
    """To start the process and load the file."""
    read_tokens_s: float
    written_tokens_s: float


async def measured_speed(server: ModelServer, upstream: Upstream) -> LocalSpeed:
    """Load a model and have it write a little. Raises Refused, Broken."""
    begun_s = time.monotonic()
    address = await server.address()
    ready_s = time.monotonic() - begun_s
    body = {
        "messages": [{"role": "user", "content": _TASK}],
        "max_tokens": _TOKENS,
        "ignore_eos": True,
    }
    there = msgspec.structs.replace(address, url=f"{address.url}/chat/completions")
    fetched = await upstream.fetch(there, request_body(body), _MOST_BYTES)
    try:
        told = from_json(fetched.body, _Timed).timings
    except msgspec.DecodeError as error:
        raise Broken("The model on this machine gave no answer that can be measured.") from error
    return LocalSpeed(ready_s, told.prompt_per_second, told.predicted_per_second)
