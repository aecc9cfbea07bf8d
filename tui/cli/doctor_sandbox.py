"""What ``duetto doctor`` finds of the sandbox of the model's commands; ``--probe`` breaks out."""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import json
import os
import socket
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from tui.cli.doctor_checks import CheckResult
from tui.core.programs import Confinement, RunOptions, RunResult
from tui.effects.commands.runner import CommandRunner
from tui.effects.commands.sandbox import Tool, find_sandbox
from tui.settings import Paths

_DEADLINE_S = 20.0
_HELD_S = 2.0
"""So long what the command left behind may need to end."""
_ADVICE = "mode sandbox runs commands without a question: use it knowing what is open"
_ESCAPES = {
    "outside": "write beside the workspace",
    "home": "write into the home folder",
    "hook": "plant a git hook",
    "config": "change git's configuration",
    "own": "change what configures duetto here",
    "moved": "put another .git in place of this one",
    "secret": "read what duetto keeps",
    "variable": "find a key in the environment",
    "tcp": "open a TCP connection",
    "udp": "send by UDP",
    "abstract": "reach an abstract socket",
    "socket": "reach a service's socket",
    "memory": "read duetto's memory",
    "signal": "send duetto a signal",
    "daemon": "leave a process behind",
}
_SCRIPT = r"""
import fcntl, json, os, socket, sys, time
p = json.loads(sys.argv[1])
reached = []
def attempt(name, act):
    try:
        act()
    except Exception:
        return
    reached.append(name)
def write(path):
    def act():
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "a") as file: file.write(p["mark"])
    return act
def talk(kind, address, family=socket.AF_INET):
    def act():
        with socket.socket(family, kind) as one:
            one.settimeout(3)
            one.connect(address)
            one.send(p["mark"].encode())
    return act
def secret():
    if p["mark"] not in open(p["secret"]).read(): raise OSError
def variable():
    if "DUETTO_PROBE_KEY" not in os.environ: raise OSError
for name, path in p["writes"].items():
    attempt(name, write(path))
attempt("secret", secret)
attempt("variable", variable)
attempt("tcp", talk(socket.SOCK_STREAM, ("127.0.0.1", p["tcp"])))
attempt("udp", talk(socket.SOCK_DGRAM, ("127.0.0.1", p["udp"])))
attempt("abstract", talk(socket.SOCK_STREAM, "\0" + p["mark"], socket.AF_UNIX))
attempt("socket", talk(socket.SOCK_STREAM, p["socket"], socket.AF_UNIX))
attempt("memory", lambda: open(f"/proc/{p['pid']}/mem", "rb"))
attempt("signal", lambda: os.kill(p["pid"], 0))
attempt("moved", lambda: (os.rename(".git", ".git-away"), os.rename(".git-away", ".git")))
if os.fork() == 0:
    os.setsid()
    with open("held", "w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        os.write(1, b"\n" + json.dumps(reached).encode() + b"\n")
        os.close(1)
        os.close(2)
        time.sleep(60)
    os._exit(0)
time.sleep(1)
"""


def sandbox_findings(folder: Path, paths: Paths, *, probe: bool) -> Iterator[CheckResult]:
    """What confines commands in this workspace, and whether it holds."""
    sandbox = find_sandbox(str(folder), paths.own()).sandbox
    words = sandbox.words if sandbox.works else f"{sandbox.words}; commands are asked about"
    yield CheckResult("sandbox", "ok" if sandbox.works else "note", words)
    if not probe or not sandbox.works:
        return
    with tempfile.TemporaryDirectory(prefix="duetto-probe-") as scratch:
        reached = _break_out(Path(scratch))
    if isinstance(reached, str):
        yield CheckResult("sandbox", "fix", f"the probe could not run: {reached}")
        return
    last = next((name for name in reversed(_ESCAPES) if name in reached), "")
    for name, attempt in _ESCAPES.items():
        if name in reached:
            advice = _ADVICE if name == last else ""
            yield CheckResult("sandbox", "fix", f"open: {attempt}", advice)
        else:
            yield CheckResult("sandbox", "ok", f"held: {attempt}")


def _break_out(scratch: Path) -> set[str] | str:
    """What a command could do that it should not, in a workspace of its own; or why none ran."""
    mark = f"duetto-{os.urandom(6).hex()}"
    root, own = scratch / "workspace", scratch / "own"
    (root / ".git" / "objects").mkdir(parents=True)
    own.mkdir()
    (own / "secret").write_text(mark, encoding="utf-8")
    writes = {
        "outside": scratch / mark,
        "home": Path.home() / f".{mark}",
        "hook": root / ".git/hooks/pre-commit",
        "config": root / ".git/config",
        "own": root / ".duetto/config.toml",
    }
    with contextlib.ExitStack() as stack:
        servers = {
            "tcp": _server(stack, socket.AF_INET, ("127.0.0.1", 0)),
            "udp": _server(stack, socket.AF_INET, ("127.0.0.1", 0), socket.SOCK_DGRAM),
            "socket": _server(stack, socket.AF_UNIX, str(scratch / "socket")),
        }
        if sys.platform.startswith("linux"):
            servers["abstract"] = _server(stack, socket.AF_UNIX, "\0" + mark)
        plan = {
            "mark": mark,
            "writes": {name: str(path) for name, path in writes.items()},
            "secret": str(own / "secret"),
            "tcp": servers["tcp"].getsockname()[1],
            "udp": servers["udp"].getsockname()[1],
            "socket": str(scratch / "socket"),
            "pid": os.getpid(),
        }
        tool = find_sandbox(str(root), [str(own)])
        result, said = asyncio.run(_run(tool, root, plan))
        heard = {name for name, server in servers.items() if _heard(server)}
    lines = [line for line in said.splitlines() if line.startswith("[")]
    if not lines:
        return result.error or said.strip()[-200:] or "it said nothing"
    reached = set(json.loads(lines[-1])) - {*writes, *servers} | heard
    for name, path in writes.items():
        with contextlib.suppress(OSError):
            if mark in path.read_text(encoding="utf-8"):
                reached.add(name)
                path.unlink()
    return reached | ({"daemon"} if _is_held(root / "held") else set())


_PYTHON = os.path.realpath(sys.executable)
"""Not that of a virtual environment, which may lie in /tmp: the sandbox has one of its own."""


async def _run(tool: Tool, root: Path, plan: dict[str, object]) -> tuple[RunResult, str]:
    said = bytearray()
    environment = {**os.environ, "DUETTO_PROBE_KEY": "x"}
    runner = CommandRunner(str(root), environment, lambda: tool)
    command = (_PYTHON, "-I", "-S", "-c", _SCRIPT, json.dumps(plan))
    how = RunOptions(keys=False, confined=Confinement())
    return await runner.run(command, said.extend, _DEADLINE_S, how), said.decode(errors="replace")


def _server(
    stack: contextlib.ExitStack,
    family: socket.AddressFamily,
    address: tuple[str, int] | str,
    kind: socket.SocketKind = socket.SOCK_STREAM,
) -> socket.socket:
    server = stack.enter_context(socket.socket(family, kind))
    server.bind(address)
    if kind == socket.SOCK_STREAM:
        server.listen(1)
    server.setblocking(False)
    return server


def _heard(server: socket.socket) -> bool:
    """Somebody came."""
    try:
        if server.type == socket.SOCK_DGRAM:
            server.recv(100)
        else:
            server.accept()[0].close()
    except OSError:
        return False
    return True


def _is_held(path: Path) -> bool:
    """A process of the command is still there."""
    deadline = time.monotonic() + _HELD_S
    while True:
        try:
            with path.open("r+b") as file:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except FileNotFoundError:
            return False
        except OSError:
            if time.monotonic() < deadline:
                time.sleep(0.05)
                continue
            return True
        return False
