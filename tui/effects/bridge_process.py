"""The app's own bridge: started when its address is first asked for, started again after a crash.

It ends by itself when its stdin closes, so it cannot outlive the app, however the app ends. It is
in a session of its own: Ctrl+C in the terminal is not for it. What it says on stderr is logged.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from tui.core.wire.address import AUTHORITY_VARIABLES, Address
from tui.errors import EndpointError

READY_DEADLINE_S = 10.0
GRACE_S = 1.0
"""Between closing stdin, SIGTERM and SIGKILL."""
ANSWER_S = 2.0
"""A bridge that says nothing for so long is stopped or stuck: it is replaced."""
_LAST_WORDS_LINES = 20
_LAST_WORDS_S = 0.5
_PATH_NAMES = frozenset(AUTHORITY_VARIABLES)
"""May be relative to the app's working directory, which is not the bridge's."""
_OWN_FOLDER = Path(__file__).resolve().parents[2]
"""The child's working directory: with -m it comes first on sys.path, so it must be the one that
`tui` lies in, never the user's workspace."""
_log = logging.getLogger("tui.bridge_process")


class BridgeProcess:
    """Supervises one bridge process."""

    def __init__(
        self,
        arguments: Sequence[str] = (),
        command: Sequence[str] = (),
        endpoints: Mapping[str, Mapping[str, Any]] | None = None,
        environment: Mapping[str, str] | None = None,
        variables: Mapping[str, str] | None = None,
    ) -> None:
        """``arguments`` are the bridge's flags; ``command`` replaces how it is run (tests).

        ``endpoints`` are those that it serves, by name: each an endpoint's specification as plain
        data. ``environment`` is what it gets of variables (None: this process's); ``variables``
        are those with the endpoints' keys, which it is told on its stdin.
        """
        self._variables = dict(variables or {})
        self._environment = dict(os.environ if environment is None else environment)
        self._command = [*(command or (sys.executable, "-m", "tui.bridge")), *arguments]
        self._endpoints = dict(endpoints or {})
        self._process: Process | None = None
        self._address: Address | None = None
        self._relays: dict[str, str] = {}
        """Endpoint -> where the running bridge serves it."""
        self._untold = False
        """The running bridge has not heard of all endpoints."""
        self._telling: asyncio.Task[None] | None = None
        self._logging: asyncio.Task[None] | None = None
        self._last_words: list[str] = []
        self._starting = asyncio.Lock()
        self._closed = False

    @property
    def pid(self) -> int | None:
        """Of the running process; None if there is none."""
        running = self._process is not None and self._process.returncode is None
        return self._process.pid if running and self._process is not None else None

    @property
    def telling(self) -> bool:
        """It is being told of endpoints, and has not answered yet."""
        return self._telling is not None and not self._telling.done()

    async def address(self, endpoint: str | None = None) -> Address:
        """Where the bridge serves, with this run's token; starts it if it is not running.

        With ``endpoint`` it is where the bridge serves that one; else the rehearsal models.

        Raises EndpointError if it does not start, or if it does not serve the endpoint.
        """
        if endpoint is not None and endpoint not in self._endpoints:
            raise EndpointError(f"The bridge knows no endpoint {endpoint!r}.")
        async with self._starting:
            if self._closed:
                raise EndpointError("The bridge is closed.")
            known = self._address
            if known is None or self.pid is None or not await _answers(known):
                if self._process is not None:
                    _log.warning("the bridge %s; starting another", self._ending())
                    await self._end()
                known = self._address = await self._start()
            if self._untold and self._process is not None:
                self._untold = False
                telling = self._tell(self._telling, self._process)
                self._telling = asyncio.create_task(telling)
            if self._telling is not None:
                # who asks may be cancelled: the answer has to be read all the same
                await asyncio.shield(self._telling)
            if endpoint is None:
                return known
            if endpoint not in self._relays:
                raise EndpointError(f"The bridge does not serve {endpoint!r}; see the log.")
            return Address(self._relays[endpoint], known.headers)

    def serve_too(
        self, endpoints: Mapping[str, Mapping[str, Any]], variables: Mapping[str, str]
    ) -> None:
        """Serve these as well, or instead of others of the same names, from the next address on."""
        self._endpoints |= endpoints
        self._variables |= variables
        self._untold = True

    async def _tell(self, before: asyncio.Task[None] | None, process: Process) -> None:
        """Name the endpoints that are known now, when the bridge has answered to those before."""
        if before is not None:
            await asyncio.gather(before, return_exceptions=True)
        self._relays = await self._name_endpoints(process)

    async def close(self) -> None:
        """End the process: close its stdin, then SIGTERM, then SIGKILL."""
        self._closed = True
        async with self._starting:
            await self._end()

    async def _start(self) -> Address:
        from tui import own_process  # not before the first paint

        try:
            self._process = await own_process.spawned(
                *self._command,
                stdin=PIPE,
                stdout=PIPE,
                stderr=PIPE,
                cwd=_OWN_FOLDER,
                env=_moved(self._environment),
                start_new_session=True,
            )
        except OSError as error:
            raise EndpointError(f"The bridge cannot be started: {error.strerror}.") from error
        self._last_words = []
        self._untold, self._telling = False, None
        self._logging = asyncio.create_task(self._log_stderr(self._process))
        try:
            address = await self._read_address(self._process)
            self._relays = await self._name_endpoints(self._process)
            return address
        except BaseException:
            # Cancelled too: a process whose address nobody knows must not stay.
            await self._end()
            raise

    async def _read_address(self, process: Process) -> Address:
        said = await self._read_line(process)
        try:
            url, token = str(said["url"]), str(said["token"])
        except (KeyError, TypeError) as error:
            raise EndpointError(f"The bridge did not start: {await self._why()}") from error
        return Address(url, {"Authorization": f"Bearer {token}"})

    async def _name_endpoints(self, process: Process) -> dict[str, str]:
        """Tell the bridge the endpoints, on stdin: no other process sees their keys there."""
        if not self._endpoints or process.stdin is None:
            return {}
        with contextlib.suppress(ConnectionError):  # it ended: the missing answer says so
            told = {"endpoints": self._endpoints, "variables": self._variables}
            process.stdin.write(json.dumps(told).encode() + b"\n")
            await process.stdin.drain()
        said = await self._read_line(process)
        relays = said.get("endpoints") if isinstance(said, dict) else None
        return {str(k): str(v) for k, v in relays.items()} if isinstance(relays, dict) else {}

    async def _read_line(self, process: Process) -> Any:
        """A line of its stdout, decoded."""
        assert process.stdout is not None
        try:
            async with asyncio.timeout(READY_DEADLINE_S):
                line = await process.stdout.readline()
        except (TimeoutError, ValueError) as error:
            raise EndpointError("The bridge did not say where it serves; see the log.") from error
        try:
            return json.loads(line)
        except ValueError as error:
            raise EndpointError(f"The bridge did not start: {await self._why()}") from error

    async def _why(self) -> str:
        if self._logging is not None:
            await asyncio.wait({self._logging}, timeout=_LAST_WORDS_S)
        words = [line for line in self._last_words if line.strip()]
        return words[-1] if words else "it ended without an error message; see the log."

    def _ending(self) -> str:
        status = self._process.returncode if self._process is not None else None
        return "does not answer" if status is None else f"ended with status {status}"

    async def _log_stderr(self, process: Process) -> None:
        assert process.stderr is not None
        while True:
            try:
                line = await process.stderr.readline()
            except ValueError:
                continue
            if not line:
                return
            text = line.decode("utf-8", "replace").rstrip()
            self._last_words = [*self._last_words, text][-_LAST_WORDS_LINES:]
            _log.warning("bridge: %s", text)

    async def _end(self) -> None:
        process, self._process, self._address = self._process, None, None
        if process is None:
            return
        if process.stdin is not None:
            process.stdin.close()
        for stop in (None, process.terminate, process.kill):
            if stop is not None:
                with contextlib.suppress(ProcessLookupError):
                    stop()
            try:
                async with asyncio.timeout(GRACE_S):
                    await process.wait()
                break
            except TimeoutError:
                continue
        if self._logging is not None:
            self._logging.cancel()
            await asyncio.gather(self._logging, return_exceptions=True)
            self._logging = None


def _moved(given: Mapping[str, str]) -> dict[str, str]:
    """Variables of the app for a process that runs in another working directory."""
    environment = {k: v for k, v in given.items() if k != "PYTHONSAFEPATH"}
    for name in _PATH_NAMES & environment.keys():
        value = environment[name]
        # OpenSSL takes several folders, one behind another.
        paths = value.split(os.pathsep) if name.endswith("_DIR") else [value]
        environment[name] = os.pathsep.join(os.path.abspath(path) for path in paths if path)
    return environment


async def _answers(address: Address) -> bool:
    """Whether somebody serves there: any answer to any request will do."""
    parts = urlsplit(address.url)
    try:
        async with asyncio.timeout(ANSWER_S):
            reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
            try:
                writer.write(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
                return bool(await reader.read(1))
            finally:
                writer.close()
    except (OSError, TimeoutError):
        return False
