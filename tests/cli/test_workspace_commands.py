from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.fakes import World
from tests.support.tables import case, each
from tui.cli.open_app import session_options
from tui.cli.workspace_commands import find_format, find_verifiers, found_in
from tui.core.patches.landing import Landing
from tui.core.programs import safe_path
from tui.effects.commands.runner import CommandRunner
from tui.effects.files import Files
from tui.effects.git import Git
from tui.effects.listing import Listing
from tui.engine import intents
from tui.engine.model_commands import CommandRules
from tui.engine.ports import VerifyCommand, project_tests
from tui.engine.requests import TurnLimits
from tui.engine.session import Session, SessionOptions
from tui.errors import SettingsError
from tui.settings import FormatSettings, Settings, VerifySettings, parse


def test_what_the_model_may_run_is_the_users_to_say() -> None:
    text = """
        [commands]
        mode = "sandbox"
        allow = ["pytest", "npm run 'a b'"]
        network = true
        deadline_s = 9
        max_rounds = 7
        max_tokens = 1000
        max_cost = 0.5
        max_time_s = 60
    """
    options = session_options(parse(text, "FILE"))
    assert options.mode == "sandbox"
    assert options.limits == TurnLimits(7, 1000, 0.5, 60)
    assert options.commands == CommandRules((("pytest",), ("npm", "run", "a b")), True, 9)
    assert session_options(Settings()) == SessionOptions()


def test_an_allowed_command_that_is_none_is_said() -> None:
    for text in ('allow = ["a \'b"]', 'allow = [" "]'):
        with pytest.raises(SettingsError, match=r"\[commands\] allow: "):
            session_options(parse(f"[commands]\n{text}", "FILE"))


def find_verify(root: Path, settings: Settings) -> VerifyCommand | None:
    return project_tests(find_verifiers(root, settings))


FINDERS = [("verify", find_verify), ("format", find_format)]


@each("name, find", FINDERS)
def test_the_users_own_command_comes_first_and_the_workspaces_is_asked_for(
    tmp_path_factory: pytest.TempPathFactory, name: str, find: Callable[..., VerifyCommand | None]
) -> None:
    root = tmp_path_factory.mktemp(name)
    assert find(root, Settings()) is None
    (root / ".duetto").mkdir()
    (root / ".duetto/config.toml").write_text(f'[{name}]\ncommand = ["tox", "-q"]\n')
    command = find(root, Settings())
    assert command is not None
    assert (command.argv, command.source) == (("tox", "-q"), ".duetto/config.toml")
    assert command.needs_consent
    own = find(root, parse(f'[{name}]\ncommand = "make it"\ndeadline_s = 9', "FILE"))
    assert own is not None
    assert (own.argv, own.needs_consent, own.deadline_s) == ("make it", False, 9)
    (root / ".duetto/config.toml").write_text(f"[{name}\n")
    with pytest.raises(SettingsError, match="line 1"):
        find(root, Settings())


def environment(root: Path) -> None:
    """Tests, and a virtual environment that has pytest."""
    (root / ".venv/lib/python3.11/site-packages/pytest").mkdir(parents=True)
    (root / ".venv/bin").mkdir()
    (root / ".venv/bin/python").write_text("#!/bin/sh\n")
    (root / ".venv/bin/python").chmod(0o755)
    (root / "test_a.py").touch()


def git(folder: Path, *arguments: str) -> None:
    subprocess.run(["git", *arguments], cwd=folder, check=True, capture_output=True)


@pytest.mark.parametrize(
    ("kind", "asked"),
    [
        ("own checkout", False),
        ("part of an own checkout", False),
        ("no git", True),
        ("unpacked in a repository", True),
        ("empty .git", True),
        ("a .git file that leads nowhere", True),
        ("tracked", True),
        ("tracked in other letters", True),
        ("a repository in it", True),
    ],
)
def test_an_interpreter_that_was_not_made_here_is_asked_for(
    tmp_path: Path, kind: str, asked: bool
) -> None:
    root = tmp_path / "around" / "work"
    root.mkdir(parents=True)
    environment(root)
    match kind:
        case "own checkout":
            git(root, "init")
        case "part of an own checkout":
            git(root.parent, "init")
            git(root.parent, "add", "work/test_a.py")
        case "unpacked in a repository":
            (root.parent / "other").touch()
            git(root.parent, "init")
            git(root.parent, "add", "other")
        case "empty .git":
            (root / ".git").mkdir()
        case "a .git file that leads nowhere":
            (root / ".git").write_text("gitdir: ../nowhere\n")
        case "tracked":
            git(root, "init")
            git(root, "add", "-f", ".venv")
        case "tracked in other letters":
            git(root, "init")
            git(
                root, "update-index", "--add", "--cacheinfo", f"100644,{'0' * 39}1,.Venv/bin/python"
            )
        case "a repository in it":
            git(root / ".venv", "init")
    command = find_verify(root, Settings())
    assert command is not None
    assert command.argv[0] == str(root / ".venv/bin/python")
    assert command.needs_consent is asked


@pytest.mark.parametrize("argv", [".venv/bin/python -m pytest", [".venv/bin/python", "-q"]])
def test_a_program_of_the_workspace_is_asked_for_in_the_users_own_command(
    tmp_path: Path, argv: str | list[str]
) -> None:
    environment(tmp_path)
    settings = Settings(verify=VerifySettings(command=argv), format=FormatSettings(command=argv))
    for look in (find_verify, find_format):
        command = look(tmp_path, settings)
        assert command is not None
        assert command.needs_consent
        assert command.source == "it runs .venv/bin/python"
    git(tmp_path, "init")
    for look in (find_verify, find_format):
        command = look(tmp_path, settings)
        assert command is not None
        assert not command.needs_consent


def test_where_git_does_not_answer_the_interpreter_is_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    (tmp_path / "test_a.py").touch()
    (tmp_path / ".git").mkdir()
    (tmp_path / "venv/bin").mkdir(parents=True)
    (tmp_path / "venv/bin/python").touch()
    (tmp_path / "venv/lib/python3.11/site-packages/pytest").mkdir(parents=True)
    command = find_verify(tmp_path, Settings())
    assert command is not None
    assert command.needs_consent


PROGRAM = """
import sys, time
for path in sys.argv[1:]:
    text = open(path).read()
    open(path, "w").write(text.replace("x=1", "x = 1"))
"""
PATCH = "*** Begin Patch\n*** Update File: a b.py\n@@\n-x = 0\n+x=1\n*** End Patch\n"


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
        world.ports.runner = CommandRunner(str(root), dict(os.environ))
        world.ports.format_command = look_up
        return Session(world.ports, world.roles, SessionOptions(ask=True))

    return begun


async def accepted(session: Session) -> None:
    landing = Landing(session.workspace, turn=1, call_id="call_1")
    landing.feed(PATCH)
    landing.finish(cut=False)
    session.submit(intents.Accept())
    assert session.formatting.running
    async with asyncio.timeout(60):
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


@pytest.mark.slow
@pytest.mark.case("G08")
async def test_one_that_hangs_half_way_does_no_harm(
    begin: Callable[[VerifyCommand], Session], tmp_path: Path
) -> None:
    argv = ("sh", "-c", 'printf x >"$1"; exec sleep 60', "sh")  # quick: it writes in time
    session = begin(VerifyCommand(argv, "config.toml", deadline_s=3.0))
    await accepted(session)
    troubles = session.drain().troubles
    assert "was stopped at its deadline of 3 s" in troubles[-1].what
    assert session.workspace.buffers["a b.py"].text() == "x=1\ny = 2\n"
    (ask,) = session.status.asks
    assert ask.question == "a b.py changed on disk: whose text stays?"
    await session.close()


@pytest.mark.case("G08")
async def test_one_that_is_not_there_is_said(begin: Callable[[VerifyCommand], Session]) -> None:
    session = begin(VerifyCommand(("no-such-formatter",), "config.toml"))
    await accepted(session)
    (trouble,) = session.drain().troubles
    assert trouble.what.startswith("no-such-formatter could not be run")
    await session.close()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "work" / "bin").mkdir(parents=True)
    return tmp_path / "work"


def program(file: Path, words: str = "") -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"#!/bin/sh\n{words}\n")
    file.chmod(0o755)
    return file


BAD_PATHS = [".", "", "bin", "./bin", "{root}", "{root}/bin", "{root}/../work/bin"]


@pytest.fixture(params=BAD_PATHS)
def path(request: pytest.FixtureRequest, root: Path) -> str:
    """A PATH that leads into the workspace first."""
    bad = request.param.format(root=root)
    return os.pathsep.join([bad, "/usr/bin", "/bin"])


def test_path_does_not_lead_into_the_workspace(root: Path, path: str) -> None:
    assert safe_path({"PATH": path}, str(root)) == "/usr/bin:/bin"


async def test_git_is_not_that_of_the_workspace(
    root: Path, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran = root.parent / "ran"
    for folder in (root, root / "bin"):
        program(folder / "git", f"touch {ran}")
    monkeypatch.chdir(root)
    environment = {**os.environ, "PATH": path}
    Listing(root, environment=environment).paths()
    Listing(root, environment=environment).is_made_here(".venv")
    await Git(str(root), environment).states()
    assert not ran.exists()


def test_the_program_of_a_command_is_found(root: Path) -> None:
    for command, path, found in (
        ("node_modules/.bin/fmt --write", "/bin", "node_modules/.bin/fmt"),
        ("./node_modules/.bin/fmt", "/bin", "node_modules/.bin/fmt"),
        ("A=1 B='2 3' node_modules/.bin/fmt", "/bin", "node_modules/.bin/fmt"),
        (("node_modules/.bin/fmt", "-q"), "/bin", "node_modules/.bin/fmt"),
        ("{root}/node_modules/.bin/fmt", "/bin", "node_modules/.bin/fmt"),
        ("fmt", "node_modules/.bin:/bin", "node_modules/.bin/fmt"),
        ("fmt", "{root}/node_modules/.bin:/bin", "node_modules/.bin/fmt"),
        ("fmt 'unfinished", "node_modules/.bin", "node_modules/.bin/fmt"),
        ("fmt", "/bin", ""),
        ("sh -c true", "/bin:node_modules/.bin", ""),
        ("../outside", "/bin", ""),
        ("", "node_modules/.bin", ""),
        ((), "node_modules/.bin", ""),
    ):
        with case(command, path, found):
            program(root / "node_modules/.bin/fmt")
            program(root.parent / "outside")
            if isinstance(command, str):
                command = command.format(root=root)
            assert (
                found_in(str(root), command, {"PATH": path.format(root=root), "HOME": "/home/me"})
                == found
            )
