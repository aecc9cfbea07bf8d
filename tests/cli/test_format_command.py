"""Which formatter runs, and that it does, with real files and a real program."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.fakes import World
from tui.cli.workspace_commands import find_format
from tui.core.patches.landing import Landing
from tui.effects.files import Files
from tui.effects.listing import Listing
from tui.effects.verifier import Verifier
from tui.engine import intents
from tui.engine.ports import VerifyCommand
from tui.engine.session import Session, SessionOptions
from tui.errors import SettingsError
from tui.settings import Settings, parse

PROGRAM = """
import sys, time
for path in sys.argv[1:]:
    text = open(path).read()
    open(path, "w").write(text.replace("x=1", "x = 1"))
"""
PATCH = "*** Begin Patch\n*** Update File: a b.py\n@@\n-x = 0\n+x=1\n*** End Patch\n"


def test_the_users_own_command_comes_first(tmp_path: Path) -> None:
    (tmp_path / ".duetto").mkdir()
    (tmp_path / ".duetto/config.toml").write_text('[format]\ncommand = ["black"]\n')
    settings = parse('[format]\ncommand = "ruff format"\ndeadline_s = 9', "FILE")
    command = find_format(tmp_path, settings)
    assert command is not None
    assert (command.argv, command.needs_consent, command.deadline_s) == ("ruff format", False, 9)


def test_the_workspaces_command_is_asked_for(tmp_path: Path) -> None:
    assert find_format(tmp_path, Settings()) is None
    (tmp_path / ".duetto").mkdir()
    (tmp_path / ".duetto/config.toml").write_text('[format]\ncommand = ["black", "-q"]\n')
    command = find_format(tmp_path, Settings())
    assert command is not None
    assert (command.argv, command.source) == (("black", "-q"), ".duetto/config.toml")
    assert command.needs_consent


def test_a_broken_workspace_file_is_said(tmp_path: Path) -> None:
    (tmp_path / ".duetto").mkdir()
    (tmp_path / ".duetto/config.toml").write_text("[format\n")
    with pytest.raises(SettingsError, match="line 1"):
        find_format(tmp_path, Settings())


@pytest.fixture
def begin(tmp_path: Path) -> Callable[[VerifyCommand], Session]:
    """A session on a real folder, with this formatter."""
    root = tmp_path / "work"
    root.mkdir()
    (root / "a b.py").write_text("x = 0\ny = 2\n")

    def begun(command: VerifyCommand) -> Session:
        async def look_up() -> VerifyCommand | None:
            return command

        world = World()
        world.ports.files = Files(root, Listing(root))
        world.ports.runner = Verifier(str(root), dict(os.environ))
        world.ports.format_command = look_up
        return Session(world.ports, world.roles, SessionOptions(ask=True))

    return begun


async def accepted(session: Session) -> None:
    landing = Landing(session.workspace, turn=1, call_id="call_1")
    landing.feed(PATCH)
    landing.finish(cut=False)
    session.submit(intents.Accept())
    assert session.formatting.running
    async with asyncio.timeout(20):
        while session.formatting.running:
            await asyncio.sleep(0.01)


@pytest.mark.case("G08")
@pytest.mark.parametrize("shell", [False, True])
async def test_a_real_formatter(
    begin: Callable[[VerifyCommand], Session], tmp_path: Path, *, shell: bool
) -> None:
    program = tmp_path / "fmt.py"
    program.write_text(PROGRAM)
    argv = (sys.executable, str(program))
    session = begin(VerifyCommand(" ".join(argv) if shell else argv, "config.toml"))
    await accepted(session)
    assert (tmp_path / "work" / "a b.py").read_text() == "x = 1\ny = 2\n"
    assert session.workspace.buffers["a b.py"].text() == "x = 1\ny = 2\n"
    assert session.workspace.take_user_changes() == []
    assert len(session.workspace.take_tool_changes()) == 1
    session.submit(intents.UndoTurn())
    assert (tmp_path / "work" / "a b.py").read_text() == "x = 0\ny = 2\n"
    await session.close()


@pytest.mark.case("G08")
async def test_one_that_hangs_half_way_does_no_harm(
    begin: Callable[[VerifyCommand], Session], tmp_path: Path
) -> None:
    script = "import sys, time; open(sys.argv[1], 'w').write('x'); time.sleep(60)"
    argv = (sys.executable, "-c", script)
    session = begin(VerifyCommand(argv, "config.toml", deadline_s=1.0))
    await accepted(session)
    troubles = session.drain().troubles
    assert "was stopped at its deadline of 1 s" in troubles[-1].what
    assert session.workspace.buffers["a b.py"].text() == "x=1\ny = 2\n"
    (ask,) = session.status.asks
    assert ask.question == "a b.py changed on disk: keep mine / take theirs"
    await session.close()


@pytest.mark.case("G08")
async def test_one_that_is_not_there_is_said(begin: Callable[[VerifyCommand], Session]) -> None:
    session = begin(VerifyCommand(("no-such-formatter",), "config.toml"))
    await accepted(session)
    (trouble,) = session.drain().troubles
    assert trouble.what.startswith("no-such-formatter could not be run")
    await session.close()
