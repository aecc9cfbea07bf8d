import importlib
import sys
from collections.abc import Callable
from pathlib import Path

import click
import pytest

import tui
from tui.cli import main as command_line
from tui.cli.main import COMMANDS, run, with_command
from tui.errors import EndpointError, SettingsError, UsageError


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DUETTO_HOME", str(tmp_path))
    return tmp_path


@pytest.fixture
def ending(monkeypatch: pytest.MonkeyPatch) -> Callable[[BaseException], None]:
    """Makes `duetto apply` end with an exception."""

    def install(error: BaseException) -> None:
        @click.command()
        def apply_command() -> None:
            raise error

        monkeypatch.setattr(
            command_line.CommandGroup, "get_command", lambda self, ctx, name: apply_command
        )

    return install


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ([], ["open"]),
        (["."], ["open", "."]),
        (["--fast", "m", "."], ["open", "--fast", "m", "."]),
        (["exec", "hi"], ["exec", "hi"]),
        (
            ["--endpoint", "u", "--fast=m", "exec", "hi"],
            ["exec", "--endpoint", "u", "--fast=m", "hi"],
        ),
        (["--debug", "doctor"], ["doctor", "--debug"]),
        (["--help"], ["--help"]),
        (["--version"], ["--version"]),
        (["--nonsense"], ["open", "--nonsense"]),
        (["--fast"], ["open", "--fast"]),
    ],
)
def test_what_is_no_command_is_opened(typed: list[str], meant: list[str]) -> None:
    assert with_command(typed) == meant


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--version"]) == 0
    assert capsys.readouterr().out == f"duetto {tui.__version__}\n"


def test_help_lists_the_commands(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--help"]) == 0
    shown = capsys.readouterr().out
    assert all(f"  {name} " in shown for name in COMMANDS if name != "open")


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_is_there_and_helps(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run([name, "--help"]) == 0
    assert "--help" in capsys.readouterr().out
    module = COMMANDS[name][0].partition(":")[0]
    assert isinstance(importlib.import_module(module), type(sys))


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["exce"], "did you mean 'exec'?"),
        (["doctr", "--json"], "did you mean 'doctor'?"),
        (["exec", "--jsn", "hi"], "'--json'"),
        (["apply", "--cutt"], "'--cut'"),
        (["--fats", "m"], "'--fast'"),
        (["--endpoint"], "requires an argument"),
        (["apply", "--chunk", "x"], "'x' is not a valid"),
    ],
)
def test_a_wrong_command_line_is_one_sentence(
    arguments: list[str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(arguments) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.startswith("duetto: ")
    assert shown.err.count("\n") == 1
    assert says in shown.err


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (UsageError("no such thing"), 2),
        (SettingsError("FILE line 3: what"), 2),
        (EndpointError("nobody there"), 3),
        (KeyboardInterrupt(), 130),
        (SystemExit(7), 7),
    ],
)
def test_exit_codes(
    ending: Callable[[BaseException], None],
    error: BaseException,
    code: int,
    capsys: pytest.CaptureFixture[str],
) -> None:
    ending(error)
    if isinstance(error, SystemExit):
        with pytest.raises(SystemExit) as caught:
            run(["apply"])
        assert caught.value.code == code
        return
    assert run(["apply"]) == code
    shown = capsys.readouterr().err
    assert "Traceback" not in shown
    assert str(error) in shown


def test_an_internal_error_goes_to_the_log(
    ending: Callable[[BaseException], None], home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ending(ZeroDivisionError("sum"))
    assert run(["apply"]) == 1
    shown = capsys.readouterr().err
    assert shown.startswith("duetto: internal error (ZeroDivisionError); see ")
    log = next(home.rglob("duetto.log"))
    assert str(log) in shown
    assert "Traceback" in log.read_text()


def test_what_is_said_is_inert(capsys: pytest.CaptureFixture[str]) -> None:
    command_line.say("a\x1b]0;title\x07b")
    assert capsys.readouterr().err == "duetto: a\\x1b]0;title\\x07b\n"
