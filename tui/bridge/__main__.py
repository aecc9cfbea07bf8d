"""``python -m tui.bridge``: the bridge as a process of its own.

It says where it serves in one JSON line on stdout, and ends when its stdin closes or at SIGTERM.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import signal
import sys
import threading
from collections.abc import Sequence

from tui.bridge.models import LEAST_TOKENS_S, MOST_TOKENS_S, Rehearsal
from tui.bridge.server import Bridge
from tui.errors import EXIT_FAILED, EXIT_OK


def main(arguments: Sequence[str] | None = None) -> int:
    """Read the flags and serve; returns the exit code."""
    default = Rehearsal()
    parser = argparse.ArgumentParser("tui.bridge", description="Serves the rehearsal models.")
    parser.add_argument("--port", type=int, default=0, help="0 takes a free port")
    rate = "tokens a second, 1 to 20000"
    parser.add_argument("--fast-rate", type=_rate, default=default.fast_tokens_s, help=rate)
    parser.add_argument("--deep-rate", type=_rate, default=default.deep_tokens_s, help=rate)
    parser.add_argument("--seed", type=int, default=default.seed, help="of the fast one's slips")
    parser.add_argument("--mistakes", type=float, default=default.mistakes, help="0 to 1")
    parser.add_argument("--any-model", action="store_true", help="other names play the deep one")
    given = parser.parse_args(arguments)
    rehearsal = Rehearsal(
        fast_tokens_s=given.fast_rate,
        deep_tokens_s=given.deep_rate,
        seed=given.seed,
        mistakes=given.mistakes,
        any_model=given.any_model,
    )
    return serve(rehearsal, given.port)


def serve(rehearsal: Rehearsal, port: int = 0) -> int:
    """Serve until stdin closes or a signal comes; returns the exit code."""
    try:
        asyncio.run(_serve(rehearsal, port))
    except OSError as error:
        print(f"The bridge cannot listen on port {port}: {error.strerror}.", file=sys.stderr)
        return EXIT_FAILED
    except KeyboardInterrupt:
        pass
    return EXIT_OK


async def _serve(rehearsal: Rehearsal, port: int) -> None:
    bridge = Bridge(rehearsal)
    loop, ended = asyncio.get_running_loop(), asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        with contextlib.suppress(NotImplementedError):  # Windows
            loop.add_signal_handler(number, ended.set)
    await bridge.start(port)
    print(json.dumps({"url": bridge.url, "token": bridge.token}), flush=True)
    threading.Thread(target=_watch_stdin, args=(loop, ended), daemon=True).start()
    await ended.wait()
    await bridge.close()


def _watch_stdin(loop: asyncio.AbstractEventLoop, ended: asyncio.Event) -> None:
    """Wait for the end of stdin, in a thread: it may be a pipe, a terminal or a file."""
    with contextlib.suppress(OSError):
        while os.read(0, 65536):
            pass
    with contextlib.suppress(RuntimeError):  # the loop is closed: a signal came first
        loop.call_soon_threadsafe(ended.set)


def _rate(text: str) -> float:
    rate = float(text)
    if not LEAST_TOKENS_S <= rate <= MOST_TOKENS_S:
        raise argparse.ArgumentTypeError(f"{text} is not between 1 and 20000")
    return rate


if __name__ == "__main__":
    sys.exit(main())
