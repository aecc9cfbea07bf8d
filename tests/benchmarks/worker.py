"""A process that answers questions, one JSON object a line; both of its ends.

It ends when its stdin closes, so it cannot outlive who asks.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
import select
import subprocess
import sys
import tempfile
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from tui.errors import DuettoError

ANSWER_S = 60.0
"""Nothing that is asked takes longer."""
GRACE_S = 2.0
"""Between closing stdin, SIGTERM and SIGKILL."""
_OWN_FOLDER = Path(__file__).resolve().parents[2]
"""With -m the working directory comes first on sys.path: it must be the one `tui` lies in."""
_ERROR = re.compile(r"[\w.]+(?:Error|Exception)\b")
"""How the last line of a traceback begins."""

Object = dict[str, Any]


class Worker:
    """The asking end: starts ``python -m MODULE ARGUMENTS`` and waits for its first line."""

    def __init__(
        self, module: str, arguments: Sequence[str] = (), environment: Mapping[str, str] = {}
    ) -> None:
        """``environment`` is added to ours. Raises DuettoError if the process does not start."""
        self._name = module.rpartition(".")[2].replace("_", " ")
        with contextlib.ExitStack() as stack:
            self._words = stack.enter_context(tempfile.TemporaryFile())
            self._process = self._start([sys.executable, "-m", module, *arguments], environment)
            stack.callback(self._end)
            self.greeting = self._answer()
            """What it said of itself."""
            self._open = stack.pop_all()

    def ask(self, **question: Any) -> Object:
        """The answer to a question. Raises DuettoError: none came, or it is about a failure."""
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.write(json.dumps(question).encode() + b"\n")
            self._process.stdin.flush()
        return self._answer()

    def close(self) -> None:
        """End the process."""
        self._open.close()

    def _start(
        self, command: Sequence[str], environment: Mapping[str, str]
    ) -> subprocess.Popen[bytes]:
        inherited = {name: value for name, value in os.environ.items() if name != "PYTHONSAFEPATH"}
        return subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._words,
            cwd=_OWN_FOLDER,
            env=inherited | dict(environment),
            start_new_session=True,
        )

    def _end(self) -> None:
        process = self._process
        with contextlib.suppress(OSError):
            if process.stdin is not None:
                process.stdin.close()
        for stop in (None, process.terminate, process.kill):
            if stop is not None:
                stop()
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(GRACE_S)
                break
        if process.stdout is not None:
            process.stdout.close()

    def _answer(self) -> Object:
        stdout = self._process.stdout
        assert stdout is not None
        ready, _, _ = select.select([stdout], [], [], ANSWER_S)
        line = stdout.readline() if ready else b""
        if not line:
            raise DuettoError(f"The benchmark's {self._name} {self._why(bool(ready))}.")
        answer: Object = json.loads(line)
        if "failure" in answer:
            raise DuettoError(str(answer["failure"]))
        return answer

    def _why(self, ended: bool) -> str:
        if not ended:
            return f"did not answer within {ANSWER_S:.0f} s"
        self._words.seek(0)
        lines = self._words.read().decode("utf-8", "replace").strip().splitlines()
        words = [line for line in lines if _ERROR.match(line)] or lines
        return f"ended ({words[-1].rstrip('.')})" if words else "ended without a word"


async def answer_questions(
    greeting: Mapping[str, Any], answer: Callable[[Object], Awaitable[Object]]
) -> None:
    """The answering end: greet on stdout, then answer stdin line by line until it closes.

    A DuettoError of ``answer`` is told to who asks.
    """
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    _say(greeting)
    while line := await reader.readline():
        try:
            _say(await answer(json.loads(line)))
        except DuettoError as error:
            _say({"failure": str(error)})


def _say(answer: Mapping[str, Any]) -> None:
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()
