"""The command line: which commands there are, and how every one of them ends.

Commands are imported when they are run: ``duetto --version`` loads no screen and no socket.
"""

from __future__ import annotations

import contextlib
import difflib
import gc
import importlib
import logging
import os
import sys
from collections.abc import Sequence
from pathlib import Path

import click

import tui
from tui import kept_frame
from tui.cli import logfile, process
from tui.core.inert_text import inert
from tui.errors import EXIT_FAILED, EXIT_INTERRUPTED, EXIT_OK, EXIT_USAGE, DuettoError, UsageError
from tui.settings import Paths

log = logging.getLogger("tui.cli")

COMMANDS = {
    "open": ("tui.cli.open_app:open_command", "Open the app (what duetto does by itself)."),
    "resume": ("tui.cli.sessions:resume_command", "Go on with an earlier session."),
    "sessions": ("tui.cli.sessions:sessions_command", "List the sessions that are kept."),
    "stats": (
        "tui.cli.sessions:stats_command",
        "Say how fast your own turns were, from prompt to green.",
    ),
    "exec": ("tui.cli.exec:exec_command", "Run one turn without a screen."),
    "apply": ("tui.cli.apply:apply_command", "Apply a patch as the app would, with no model."),
    "practice": ("tui.cli.practice:practice_command", "Open the practice workspace."),
    "replay": ("tui.cli.replay:replay_command", "Play a recording back."),
    "bridge": (
        "tui.cli.bridge:bridge_command",
        "Serve your endpoints to other programs, or to a team.",
    ),
    "connect": (
        "tui.cli.connecting:connect_command",
        "Connect a provider or a server, and choose the models.",
    ),
    "keys": ("tui.cli.keys:keys_command", "Keep providers' keys in the system's keyring."),
    "theme": ("tui.cli.theme:theme_command", "List the themes, check your own, copy one."),
    "doctor": ("tui.cli.doctor:doctor_command", "Check the set-up and say what to do."),
}
"""Name -> where the command is, and its line in ``--help`` (which so imports none of them)."""
DEFAULT = "open"
HIDDEN = frozenset({DEFAULT})
_LINEAR = frozenset({DEFAULT, "practice", "resume"})
"""Commands with a linear mode."""
_WITH_VALUE = frozenset(
    {"--endpoint", "--fast", "--deep", "--key-env", "--config", "--record", "--trace"}
    | {"--patch-format", "--patch-tool"}
)
_WITHOUT_VALUE = frozenset({"--debug", "--linear"})
_ELSEWHERE = {"--continue": "resume --last", "--resume": "resume"}
"""How other such programs call what is a command here."""
_BENCH = "bench"
_MOVED = (
    "duetto bench has moved: in a checkout, pip install -e '.[bench]'"
    " and python -m tests.benchmarks ui|stream|edit|transport|bridge"
)
"""What `duetto bench` says."""
_COLLECT_AFTER = (150_000, 20, 100)
"""Python's 700 collects garbage hundreds of times while modules are imported, and finds hardly
any: that is a tenth of the time to the first paint, which makes 70,000 objects. The app sets its
own when it is painted."""


class CommandGroup(click.Group):
    """Commands by name, imported late; what is not one of them is opened."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names that ``--help`` lists."""
        return [name for name in COMMANDS if name not in HIDDEN]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a command."""
        if cmd_name not in COMMANDS:
            return None
        if cmd_name not in _LINEAR:
            process.turn_on()
        module, _, attribute = COMMANDS[cmd_name][0].partition(":")
        command = getattr(importlib.import_module(module), attribute)
        assert isinstance(command, click.Command)
        return command

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the options of the command that needs no name, and the commands."""
        default = self.get_command(ctx, DEFAULT)
        own = default.get_params(ctx) if default is not None else []
        records = {}
        for option in (*own, *self.get_params(ctx)):
            record = option.get_help_record(ctx) if isinstance(option, click.Option) else None
            if record is not None:
                records[record[0]] = record
        with formatter.section("Options"):
            formatter.write_dl(list(records.values()))
        self.format_commands(ctx, formatter)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, COMMANDS[name][1]) for name in self.list_commands(ctx)])

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Put the default command in front where no command is named."""
        return super().parse_args(ctx, with_command(args))


_ALIKE = 0.7
"""Less, and a guess would be no help."""


def with_command(args: Sequence[str]) -> list[str]:
    """The arguments with the command's name first.

    Shared options may stand before the command (``duetto --fast M exec ...``); a first word that
    is neither a command nor a path, but nearly a command, raises click's UsageError.
    """
    if args and args[0] in ("--help", "-h", "--version"):
        return list(args)
    at = 0
    while at < len(args) and args[at].startswith("--"):
        name, equals, _ = args[at].partition("=")
        if name in _WITH_VALUE:
            at += 1 if equals else 2
        elif name in _WITHOUT_VALUE:
            at += 1
        else:
            break
    word = args[at] if at < len(args) else ""
    if word == _BENCH:
        raise UsageError(_MOVED)
    if instead := _ELSEWHERE.get(word):
        raise click.UsageError(f"no such option {word!r}; did you mean 'duetto {instead}'?")
    if word in COMMANDS:
        return [word, *args[:at], *args[at + 1 :]]
    near = difflib.get_close_matches(word, [c for c in COMMANDS if c not in HIDDEN], 1, _ALIKE)
    if near and not word.startswith("-") and not os.path.lexists(word):
        raise click.UsageError(
            f"no command and no file is called {word!r}; did you mean {near[0]!r}?"
        )
    return [DEFAULT, *args]


@click.group(
    cls=CommandGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    subcommand_metavar="[PATH ...] [+LINE] | COMMAND ...",
    options_metavar="[OPTIONS]",
)
@click.version_option(tui.__version__, prog_name="duetto", message="%(prog)s %(version)s")
def duetto() -> None:
    """Pair-program with a model in the terminal, and interrupt it.

    duetto [PATH ...] [+LINE] opens the app on a folder, or on files (path:line:col works too).
    Without PATH it opens the current folder, if that is a git checkout or holds sources, else the
    practice workspace. Without a connected model (duetto connect) the built-in rehearsal answers.
    """


def main() -> None:
    """Run the command line and end the process with a stable exit code."""
    gc.set_threshold(*_COLLECT_AFTER)
    process.prepare()
    try:
        process.raise_again()
        code = run(sys.argv[1:])
        process.end_at_once()  # all is kept and closed
    except KeyboardInterrupt:
        process.end_at_once()
        code = EXIT_INTERRUPTED
    process.end_in_time(code)
    process.ended(code)
    sys.exit(code)


def run(args: Sequence[str]) -> int:
    """Run one command; returns the exit code. No exception leaves it, no traceback is shown."""
    paths = Paths.find()
    log_file = logfile.start(paths, debug="--debug" in args)
    try:
        try:
            result = duetto.main(list(args), prog_name="duetto", standalone_mode=False)
        finally:
            kept_frame.leave()  # whatever is said now is said to the shell
    except click.exceptions.Exit as end:
        return end.exit_code
    except click.ClickException as error:
        return _usage(error)
    except DuettoError as error:
        log.info("%s: %s", type(error).__name__, error)
        say(str(error))
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        say("interrupted")
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        # whoever read our output has gone
        process.abandon()
        return EXIT_FAILED
    except SystemExit as end:  # something that runs in it ends the interpreter
        return _ended_by(end)
    except Exception as error:
        return _broken(error, log_file)
    return result if isinstance(result, int) else EXIT_OK


def _ended_by(end: SystemExit) -> int:
    """The exit code; instead of one there may be a sentence, which Python would say."""
    if end.code is None or isinstance(end.code, int):
        return end.code or EXIT_OK
    say(str(end.code))
    return EXIT_FAILED


def _broken(error: Exception, log_file: Path | None) -> int:
    """The last handler: a full disk behind stdout, or a bug."""
    if isinstance(error, OSError) and (why := process.why_unwritten(error)):
        process.abandon()
        say(why)
        return EXIT_FAILED
    log.exception("internal error")
    say(f"internal error ({type(error).__name__}); see {log_file or 'duetto doctor'}")
    return EXIT_FAILED


def say(sentence: str) -> None:
    """One line on stderr; control characters in it are shown, not obeyed."""
    with contextlib.suppress(OSError):
        click.echo(f"duetto: {inert(sentence)}", err=True)


def _usage(error: click.ClickException) -> int:
    """A wrong command line in one sentence, with the nearest that exists."""
    unknown = isinstance(error, click.NoSuchOption)  # click's guesses go far
    message = (error.message if unknown else error.format_message()).rstrip(".")
    message = message[:1].lower() + message[1:]
    if isinstance(error, click.NoSuchOption):
        known = {
            name.strip("-"): name  # what all have makes nothing alike
            for parameter in (error.ctx.command.params if error.ctx else ())
            for name in parameter.opts
        }
        if near := difflib.get_close_matches(error.option_name.strip("-"), known, 1, _ALIKE):
            message += f"; did you mean {known[near[0]]!r}?"
    context = getattr(error, "ctx", None)
    where = context.command_path.removesuffix(f" {DEFAULT}") if context is not None else "duetto"
    say(f"{message} (see {where} --help)")
    return EXIT_USAGE if isinstance(error, click.UsageError) else error.exit_code
