"""What a scripted server can do besides sending events: close, break, stall, say nonsense."""

from __future__ import annotations

import asyncio
import json
import socket
import struct
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from websockets.asyncio.server import ServerConnection
from websockets.exceptions import ConnectionClosed

Event = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Close:
    """A close frame."""

    code: int = 1000
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Reset:
    """A TCP reset."""


@dataclass(frozen=True, slots=True)
class Fin:
    """The end of the TCP stream without a close frame, which clients call 1006."""


@dataclass(frozen=True, slots=True)
class HalfOpen:
    """From now on nothing is read, answered or closed: a cable was pulled."""


@dataclass(frozen=True, slots=True)
class Raw:
    """A text frame with these bytes, or a binary one."""

    data: bytes
    binary: bool = False


@dataclass(frozen=True, slots=True)
class Wait:
    """Silence, in seconds."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Gate:
    """Silence until the test opens it."""

    event: asyncio.Event


@dataclass(frozen=True, slots=True)
class Storm:
    """The same event many times."""

    event: Event
    times: int
    gap_s: float = 0.0


Step = Event | Close | Reset | Fin | HalfOpen | Raw | Wait | Gate | Storm
Script = Sequence[Sequence[Step]]
Ending = Close | Reset | Fin


async def played(
    connection: ServerConnection, steps: Sequence[Step], about: Mapping[str, str]
) -> AsyncIterator[Event]:
    """Do the steps; gives each event that was sent, with ``about`` among its fields."""
    for step in steps:
        if isinstance(step, Close | Reset | Fin | HalfOpen):
            await _broken_off(connection, step)
            return
        if isinstance(step, Raw):
            await connection.send(step.data, text=not step.binary)
        elif isinstance(step, Wait):
            await asyncio.sleep(step.seconds)
        elif isinstance(step, Gate):
            await step.event.wait()
        elif isinstance(step, Storm):
            for _ in range(step.times):
                await connection.send(json.dumps({**step.event, **about}))
                await asyncio.sleep(step.gap_s)
        else:
            await connection.send(json.dumps({**step, **about}))
            yield step


async def _broken_off(connection: ServerConnection, step: Close | Reset | Fin | HalfOpen) -> None:
    if isinstance(step, Close):
        await connection.close(step.code, step.reason)
    elif isinstance(step, HalfOpen):
        connection.transport.pause_reading()
        await asyncio.Event().wait()
    elif isinstance(step, Reset):
        await _taken(connection)
        raw = connection.transport.get_extra_info("socket")
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        connection.transport.abort()
    else:
        connection.transport.close()


async def _taken(connection: ServerConnection) -> None:
    """Wait until the client has read what was sent: a reset throws away what it has not."""
    pong = await connection.ping()
    with suppress(TimeoutError, ConnectionClosed):
        await asyncio.wait_for(pong, 60)
