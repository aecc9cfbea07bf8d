import importlib
import sys
from collections.abc import Callable
from pathlib import Path

import click
import pytest

from tests.support.tables import case
from tui.cli import main as command_line
from tui.cli.main import COMMANDS, run, with_command
from tui.errors import EXIT_USAGE, EndpointError, SettingsError, UsageError


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


def test_what_is_no_command_is_opened() -> None:
    for typed, meant in (
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
    ):
        with case(typed, meant):
            assert with_command(typed) == meant


def test_help_lists_the_commands(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--help"]) == 0
    shown = capsys.readouterr().out
    assert all(f"  {name} " in shown for name in COMMANDS if name != "open")


def test_a_wrong_option_is_answered_with_the_help_that_lists_the_right_ones(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(["--nope"]) == run(["exec", "--nope"]) == EXIT_USAGE
    first, second = capsys.readouterr().err.splitlines()
    assert first == "duetto: no such option '--nope' (see duetto --help)"
    assert second == "duetto: no such option '--nope' (see duetto exec --help)"
    assert run(["--lineer"]) == EXIT_USAGE
    assert "did you mean '--linear'?" in capsys.readouterr().err
    assert run(["--help"]) == 0
    assert "--linear" in capsys.readouterr().out


def test_every_command_is_there_and_helps(capsys: pytest.CaptureFixture[str]) -> None:
    for name in COMMANDS:
        with case(name):
            assert run([name, "--help"]) == 0
            assert "--help" in capsys.readouterr().out
            module = COMMANDS[name][0].partition(":")[0]
            assert isinstance(importlib.import_module(module), type(sys))


def test_a_wrong_command_line_is_one_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments, says in (
        (["exce"], "did you mean 'exec'?"),
        (["doctr", "--json"], "did you mean 'doctor'?"),
        (["bench", "ui", "--quick"], "python -m tests.benchmarks ui|stream|edit|transport|bridge"),
        (["exec", "--jsn", "hi"], "'--json'"),
        (["apply", "--cutt"], "'--cut'"),
        (["--fats", "m"], "'--fast'"),
        (["--continue"], "did you mean 'duetto resume --last'?"),
        (["--fast", "m", "--resume", "7f3k"], "did you mean 'duetto resume'?"),
        (["--endpoint"], "requires an argument"),
        (["apply", "--chunk", "x"], "'x' is not a valid"),
    ):
        with case(arguments, says):
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
        (SystemExit("enough"), 1),
    ],
)
def test_exit_codes(
    ending: Callable[[BaseException], None],
    error: BaseException,
    code: int,
    capsys: pytest.CaptureFixture[str],
) -> None:
    ending(error)
    assert run(["apply"]) == code
    shown = capsys.readouterr().err
    assert "Traceback" not in shown
    assert (str(error) in shown) == (str(error) != str(code))


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


def test_every_option_of_the_app_may_stand_before_a_command() -> None:
    app = COMMANDS["open"][0].partition(":")
    for option in getattr(importlib.import_module(app[0]), app[2]).params:
        if isinstance(option, click.Option) and not option.is_eager:
            given = [option.opts[0]] if option.is_flag else [option.opts[0], "x"]
            with case(given):
                assert with_command([*given, "exec", "hi"]) == ["exec", *given, "hi"]
