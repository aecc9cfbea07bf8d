"""What confines commands: each tool that is here, and tools that are missing or half working."""

from __future__ import annotations

import asyncio
import os
import shutil
import socket
import sys
from pathlib import Path

import pytest

from tests.effects.test_commands import gone
from tests.support.tables import each
from tui.core.programs import Confinement, RunOptions
from tui.effects.commands import sandbox
from tui.effects.commands.runner import CommandRunner
from tui.effects.commands.sandbox import (
    Bubblewrap,
    ConfinedCommand,
    Landlock,
    NoSandbox,
    Place,
    Tool,
    find_sandbox,
    landlock_version,
    seatbelt_profile,
    socket_filter,
)

BWRAP = shutil.which("bwrap")
PYTHON = os.path.realpath(sys.executable)
"""Not that of a virtual environment, which may lie in /tmp: the sandbox has one of its own."""
linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="Linux only")


class House:
    """A home folder with a workspace and a secret in it."""

    def __init__(self, folder: Path) -> None:
        self.home = folder / "home"
        self.root = self.home / "work"
        self.own = self.home / "duetto"
        for below in (self.root, self.own, self.home / ".ssh"):
            below.mkdir(parents=True)
        (self.home / ".ssh" / "id").write_text("secret key")
        (self.own / "consents").write_text("secret consent")
        self.environment = {**os.environ, "HOME": str(self.home)}

    def place(self, root: Path | None = None) -> Place:
        return Place(str(root or self.root), str(self.home), [str(self.own)])

    async def run(
        self,
        tool: Tool,
        command: str,
        confined: Confinement | None = None,
        root: Path | None = None,
    ) -> str:
        runner = CommandRunner(str(root or self.root), self.environment, lambda: tool)
        said = bytearray()
        how = RunOptions(keys=False, confined=confined or Confinement())
        await runner.run(f"exec 2>&1; {command}", said.extend, 60, how)
        return said.decode()


@pytest.fixture
def house(tmp_path: Path) -> House:
    return House(tmp_path)


def tool_or_skip(name: str, place: Place) -> Tool:
    if name == "bwrap":
        if not BWRAP:
            pytest.skip("bubblewrap is not installed")
        tool: Tool = Bubblewrap(BWRAP, place)
    else:
        if landlock_version() < 4:
            pytest.skip("this kernel's Landlock knows no TCP")
        tool = Landlock(place, landlock_version(), "no bubblewrap", socket_filter())
    if why := sandbox.failing(tool, place):
        pytest.skip(f"{name} does not work here: {why}")
    return tool


@linux
@pytest.mark.parametrize("name", ["bwrap", "landlock"])
async def test_the_workspace_and_nothing_else_is_written(name: str, house: House) -> None:
    tool = tool_or_skip(name, house.place())
    said = await house.run(
        tool, "echo a > new; echo b > ../new; echo c >$TMPDIR/t && cat $TMPDIR/t"
    )
    assert (house.root / "new").read_text() == "a\n"
    assert not (house.home / "new").exists()
    assert said.endswith("c\n")
    said = await house.run(tool, "echo a > newer; cat new", Confinement(writable=False))
    assert said.endswith("a\n")
    assert not (house.root / "newer").exists()


@linux
@pytest.mark.parametrize("name", ["bwrap", "landlock"])
async def test_secrets_are_hidden_and_the_rest_is_read(name: str, house: House) -> None:
    (house.root / "sub").mkdir()
    (house.root / "sub" / "a").write_text("plain")
    tool = tool_or_skip(name, house.place())
    said = await house.run(tool, "cat ../.ssh/id ../duetto/consents; cat sub/a")
    assert "secret" not in said
    assert said.endswith("plain")


@linux
@pytest.mark.parametrize("name", ["bwrap", "landlock"])
async def test_there_is_no_network_unless_it_is_asked_for(name: str, house: House) -> None:
    tool = tool_or_skip(name, house.place())
    server = await asyncio.start_server(lambda reader, writer: writer.close(), "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    connect = f"import socket; socket.create_connection(('127.0.0.1', {port})); print('through')"
    async with server:
        for network in (False, True):
            confined = Confinement(network=network)
            said = await house.run(tool, f'{PYTHON} -ISc "{connect}"', confined)
            assert ("through" in said) is network


@linux
@pytest.mark.parametrize("name", ["bwrap", "landlock"])
async def test_no_datagram_leaves_and_no_service_is_reached(name: str, house: House) -> None:
    tool = tool_or_skip(name, house.place())
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as heard:
        heard.bind(("127.0.0.1", 0))
        heard.setblocking(False)
        send = f"socket.socket(2, 2).sendto(b'x', ('127.0.0.1', {heard.getsockname()[1]}))"
        await house.run(tool, f'{PYTHON} -ISc "import socket; {send}"')
        with pytest.raises(BlockingIOError):
            heard.recv(9)
    pair = "import socket; a, b = socket.socketpair(); a.send(b'pairs work'); print(b.recv(99))"
    assert "pairs work" in await house.run(tool, f'{PYTHON} -ISc "{pair}"')
    with socket.socket(socket.AF_UNIX) as service:
        service.bind(str(house.home.parent / "service"))
        service.listen()
        join = f"socket.socket(1).connect('{house.home.parent}/service'); print('through')"
        assert "through" not in await house.run(tool, f'{PYTHON} -ISc "import socket; {join}"')


@linux
async def test_an_environment_below_tmp_is_seen_and_nothing_else_there(house: House) -> None:
    if not BWRAP or not str(house.home).startswith("/tmp/"):
        pytest.skip("there is no bubblewrap, or the tests' folder is elsewhere")
    tools = house.home / "venv" / "bin"
    tools.mkdir(parents=True)
    (tools / "judge").write_text("#!/bin/sh\necho judged\n")
    (tools / "judge").chmod(0o755)
    house.environment["PATH"] = f"{tools}:{os.environ['PATH']}"
    tool = find_sandbox(str(house.root), [str(house.own)], house.environment)
    (house.home / "other").touch()
    said = await house.run(tool, "judge; ls ..; echo x > ../venv/bin/judge")
    assert said.startswith("judged\n")
    assert "other" not in said
    assert "judged" in (tools / "judge").read_text()


@linux
async def test_what_configures_git_and_duetto_cannot_be_made_changed_or_moved(house: House) -> None:
    tool = tool_or_skip("bwrap", house.place())
    await house.run(tool, "mkdir .git .duetto; echo x > .duetto/config.toml; echo x > .git/config")
    assert list(house.root.iterdir()) == []  # not even what stood in their place
    (house.root / ".git" / "objects").mkdir(parents=True)
    (house.root / ".git" / "config").write_text("mine")
    said = await house.run(
        tool,
        "echo x > .git/config; mkdir .git/hooks; echo x > .git/hooks/post-commit; mv .git away;"
        " echo ../evil > .git/commondir; echo y > .git/objects/y && echo stored",
    )
    assert said.endswith("stored\n")
    assert {path.name for path in (house.root / ".git").iterdir()} == {"config", "objects"}
    assert (house.root / ".git" / "config").read_text() == "mine"


@linux
async def test_commands_side_by_side_keep_what_stands_for_the_missing(house: House) -> None:
    tool = tool_or_skip("bwrap", house.place())
    await asyncio.gather(*(house.run(tool, f"sleep 0.{n}; mkdir .duetto/x") for n in range(3)))
    assert list(house.root.iterdir()) == []


@linux
@pytest.mark.parametrize("name", ["bwrap", "landlock"])
async def test_all_that_a_command_started_ends_with_it(name: str, house: House) -> None:
    tool = tool_or_skip(name, house.place())
    runner = CommandRunner(str(house.root), house.environment, lambda: tool)
    said = bytearray()
    daemon = "import os,time; os.setsid(); time.sleep(60)"
    command = f'{PYTHON} -ISc "{daemon}" & sleep 0.3'
    await runner.run(command, said.extend, 60, RunOptions(keys=False, confined=Confinement()))
    pids = [
        int(folder.name)
        for folder in Path("/proc").glob("[0-9]*")
        if daemon.encode() in _command_line(folder)
    ]
    for pid in pids:
        await gone(pid)


def _command_line(folder: Path) -> bytes:
    try:
        return (folder / "cmdline").read_bytes()
    except OSError:
        return b""


@linux
async def test_a_workspace_in_a_hidden_folder_is_there_all_the_same(house: House) -> None:
    root = house.own / "practice"
    root.mkdir()
    tool = tool_or_skip("bwrap", house.place(root))
    said = await house.run(tool, "echo a > new; cat new ../consents", root=root)
    assert said.startswith("a\n")
    assert "secret" not in said


@linux
async def test_in_the_home_folder_hidden_files_are_read_only(house: House) -> None:
    (house.home / ".profile").write_text("mine")
    tool = tool_or_skip("bwrap", house.place(house.home))
    assert "holds your home folder" in tool.sandbox.words
    said = await house.run(tool, "echo x > .profile; cat .ssh/id; echo a > new", root=house.home)
    assert "secret" not in said
    assert (house.home / ".profile").read_text() == "mine"
    assert (house.home / "new").read_text() == "a\n"


@each(
    "script, why",
    [
        ("", "bubblewrap is not installed"),
        ("echo 'bwrap: No permissions to create new namespace' >&2; exit 1", "No permissions"),
        ('while [ $1 != -- ]; do shift; done; shift; exec "$@"', "lets commands write anywhere"),
        ("exit 0", "exit 0"),
        ("sleep 60", "it hangs"),
    ],
)
def test_a_tool_that_does_not_work_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, why: str
) -> None:
    house = House(tmp_path / (why.split()[-1] or "x"))
    monkeypatch.setattr(sandbox, "_PROOF_S", 1.0 if why == "it hangs" else 60.0)
    monkeypatch.setattr(sandbox, "landlock_version", lambda: 0)
    monkeypatch.setattr(sandbox.sys, "platform", "linux")
    found = find_sandbox(str(house.root), (), environment_with(house, script))
    assert isinstance(found, NoSandbox)
    assert why in found.sandbox.words
    assert not found.sandbox.works
    with pytest.raises(OSError, match="no sandbox"):
        found.launch(ConfinedCommand(("true",), str(house.root), Confinement()))


@linux
def test_one_that_leaves_the_network_open_is_not_used(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    tool_or_skip("bwrap", house.place())
    script = 'for a do shift; [ "$a" = --unshare-net ] || set -- "$@" "$a"; done; exec ' + str(
        BWRAP
    )
    monkeypatch.setattr(sandbox, "landlock_version", lambda: 0)
    found = find_sandbox(str(house.root), (), environment_with(house, f'{script} "$@"'))
    assert "does not cut off the network" in found.sandbox.words


@linux
def test_landlock_stands_in_and_says_what_stays_open(house: House) -> None:
    tool_or_skip("landlock", house.place())
    found = find_sandbox(str(house.root), (), environment_with(house, ""))
    assert found.sandbox.works
    assert ".duetto" in found.sandbox.words


def environment_with(house: House, script: str) -> dict[str, str]:
    """A PATH on which bwrap is this script (empty: is not)."""
    tools = house.home / "tools"
    tools.mkdir()
    if script:
        (tools / "bwrap").write_text(f"#!/bin/sh\nPATH=/bin:/usr/bin\n{script}\n")
        (tools / "bwrap").chmod(0o755)
    return {"PATH": str(tools), "HOME": str(house.home)}


@each("root, why", [("/", "the whole disk"), ("/nonexistent/folder", "is not there")])
def test_where_no_sandbox_can_help_it_says_so(root: str, why: str) -> None:
    assert why in find_sandbox(root).sandbox.words


def test_a_workspace_that_is_read_only_is_said(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sandbox.os, "access", lambda path, mode: False)
    assert house.place().remark == "; the workspace is read-only"


def test_the_profile_of_macos_says_the_same(house: House) -> None:
    profile = seatbelt_profile(house.place(), Confinement(), '/private/tmp/a "b')
    lines = profile.splitlines()
    assert lines[:3] == ["(version 1)", "(allow default)", "(deny network*)"]
    root = os.path.realpath(house.root)
    assert f'(allow file-write* (subpath "/private/tmp/a \\"b") (subpath "{root}"))' in lines
    (never,) = [line for line in lines if line.startswith("(deny file-write* (")]
    assert f'(subpath "{root}/.git/hooks")' in never
    assert lines.index(never) > lines.index("(deny file-write*)")
    assert lines[-1].startswith("(deny file-read* file-write*")
    assert "network" not in seatbelt_profile(house.place(), Confinement(network=True), "/t")
