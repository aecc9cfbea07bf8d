"""``python -m tui.bridge.local.serving``: llama.cpp's server, in a process that the bridge has.

One line of JSON on stdin says what to serve; one on stdout where it is, or that it failed. It
listens on loopback, for whoever has the key, and ends with its stdin or with the bridge.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import signal
import sys
import threading
from typing import Any

_PDEATHSIG = 1


def main() -> None:
    """Serve until stdin closes."""
    answer = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what the library prints is not an answer
    _die_with_parent()
    told = json.loads(sys.stdin.buffer.readline())
    threading.Thread(target=_watch_stdin, daemon=True).start()
    try:
        said = {"url": _served(told).listening_address}
    except (ImportError, RuntimeError, ValueError, TypeError, OSError) as error:
        said = {"error": f"{type(error).__name__}: {error}"}
    print(json.dumps(said), file=answer, flush=True)
    if "error" in said:
        os._exit(1)
    while True:
        signal.pause() if hasattr(signal, "pause") else threading.Event().wait()


def _served(told: dict[str, Any]) -> Any:
    """Load the model and serve it; kept alive by whoever has it."""
    import xllamacpp

    wanted = xllamacpp.CommonParams()
    wanted.model.path = told["file"]
    wanted.model_alias = {told["name"]}
    wanted.hostnames, wanted.port = ["127.0.0.1"], 0
    wanted.api_keys = [told["key"]]
    wanted.n_ctx, wanted.n_parallel, wanted.kv_unified = told["tokens"], told["slots"], True
    wanted.cpuparams.n_threads = wanted.cpuparams_batch.n_threads = told["threads"]
    wanted.cpuparams.poll = wanted.cpuparams_batch.poll = 0  # who waits does not turn the processor
    wanted.warmup = wanted.ui = wanted.endpoint_slots = False
    wanted.fit_params = False
    wanted.cache_ram_mib = told["cache_mb"]
    wanted.verbosity = 1
    _KEPT.append(server := xllamacpp.Server(wanted))
    return server


_KEPT: list[Any] = []


def _die_with_parent() -> None:
    """Linux: also while the library does not let Python look at stdin."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(_PDEATHSIG, signal.SIGKILL)


def _watch_stdin() -> None:
    with contextlib.suppress(OSError):
        while os.read(0, 4096):
            pass
    os._exit(0)


if __name__ == "__main__":
    main()
