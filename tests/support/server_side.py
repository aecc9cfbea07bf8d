"""The server's side of the protocol in tests: requests in, runs that answer, frames out."""

from __future__ import annotations

import json
from typing import Any

from tui.core.wire.events import Usage
from tui.core.wire.server.protocol import ServerProtocol
from tui.core.wire.server.run import Run


def create(text: Any = "hi", **fields: Any) -> str:
    """A request's frame."""
    return json.dumps({"type": "response.create", "model": "m", "input": text, **fields})


def sent(server: ServerProtocol) -> list[dict[str, Any]]:
    """What the server has written since."""
    return [json.loads(frame) for frame in server.data_to_send()]


def one_run(server: ServerProtocol, text: str) -> Run:
    """Hand in a frame that begins one run."""
    server.receive_text(text)
    (run,) = server.accept()
    return run


def answer(run: Run, text: str = "hello") -> None:
    """Play a run to its end: one message."""
    index = run.item_added({"type": "message"})
    run.delta(index, text)
    run.item_done(index)
    run.finish(usage=Usage(3, 2))
