"""``python -m tui.bridge``: the bridge as a process of its own.

It says where it serves in one JSON line on stdout, and ends when its stdin closes or at SIGTERM.
A line on stdin may name endpoints to relay to (`relay.endpoints`); it answers each such line with
where it serves which.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import sys
import threading
from collections.abc import Callable, Mapping, Sequence

from tui.bridge.endpoints.base import Target
from tui.bridge.endpoints.kinds import load
from tui.bridge.rehearsal.endpoint import Rehearsal
from tui.bridge.server import Bridge, prepare, run
from tui.bridge.targets import key_of, read_endpoint_line, target
from tui.core.typed_data import from_json
from tui.errors import EXIT_FAILED, EXIT_OK, EndpointError

LEAVE_S = 0.2
"""For goodbyes to clients and services at the end; who does not answer holds nobody up."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve as the one argument says, a `Rehearsal` as JSON; returns the exit code."""
    given = sys.argv[1:] if arguments is None else arguments
    return serve(from_json("".join(given) or "{}", Rehearsal), relays=True)


def serve(
    rehearsal: Rehearsal,
    port: int = 0,
    *,
    max_age_s: float | None = None,
    relays: bool = False,
    targets: Mapping[str, Target] | None = None,
) -> int:
    """Serve until stdin closes or a signal comes; returns the exit code.

    With ``relays`` the lines on stdin name endpoints (`targets`), more than ``targets``.
    """
    bridge = Bridge(rehearsal, max_age_s=max_age_s)
    bridge.endpoints.targets.update(targets or {})
    load((targets or {}).values())
    try:
        run(_serve(bridge, port, relays=relays))
    except OSError as error:
        print(f"The bridge cannot listen on port {port}: {error.strerror}.", file=sys.stderr)
        return EXIT_FAILED
    except KeyboardInterrupt:
        pass
    return EXIT_OK


async def _serve(bridge: Bridge, port: int, *, relays: bool) -> None:
    loop, ended = asyncio.get_running_loop(), asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        with contextlib.suppress(NotImplementedError):  # Windows
            loop.add_signal_handler(number, ended.set)
    await bridge.start(port)
    prepare()
    _say(url=bridge.url, token=bridge.token)

    def serve_too(targets: dict[str, Target]) -> None:
        bridge.endpoints.targets.update(targets)
        _say(endpoints={name: bridge.url_of(name) for name in bridge.endpoints.targets})

    def heard(line: bytes) -> None:
        """Take a line of stdin, in its thread: a keyring may take its time."""
        if line and relays:
            found = _targets_in(line)
            loop.call_soon_threadsafe(serve_too, found)
            load(found.values())
        elif not line:
            loop.call_soon_threadsafe(ended.set)

    threading.Thread(target=_watch_stdin, args=(heard,), daemon=True).start()
    await ended.wait()
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(LEAVE_S):
            await bridge.close()


def _targets_in(line: bytes) -> dict[str, Target]:
    """The endpoints that a line names; what is wrong with one is said, without its keys."""
    found: dict[str, Target] = {}
    try:
        told = read_endpoint_line(line)
    except EndpointError as error:
        print(error, file=sys.stderr, flush=True)
        return found
    variables = {**os.environ, **told.variables}
    for name, spec in told.endpoints.items():
        try:
            found[name] = target(name, spec, key_of(name, spec, variables))
        except EndpointError as error:
            print(error, file=sys.stderr, flush=True)
    return found


def _say(**words: object) -> None:
    print(json.dumps(words), flush=True)


def _watch_stdin(heard: Callable[[bytes], None]) -> None:
    """Hand on the lines of stdin and, as an empty one, its end.

    In a thread: it may be a pipe, a terminal or a file.
    """
    pending = b""
    with contextlib.suppress(RuntimeError):  # the loop is closed: a signal came first
        with contextlib.suppress(OSError):
            while chunk := os.read(0, 65536):
                *lines, pending = (pending + chunk).split(b"\n")
                for line in filter(bytes.strip, lines):
                    heard(line)
        heard(b"")


if __name__ == "__main__":
    code = main()
    with contextlib.suppress(OSError):
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(code)  # who has started it waits: to take Python apart would take a tenth of a second
