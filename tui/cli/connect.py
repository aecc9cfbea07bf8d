"""``duetto connect``: a provider or a server, its key and two models, without a screen.

With a provider and models on the command line nothing is asked; a key is read from stdin, never
from an argument, which every process of this user could read.
"""

from __future__ import annotations

import asyncio
import getpass
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from msgspec import Struct
from msgspec.structs import replace

from tui.cli.keys import given_key
from tui.cli.models import ResolvedModels, SessionSetup
from tui.cli.options import ModelFlags
from tui.cli.process import hearing_ctrl_c
from tui.core.inert_text import inert
from tui.engine.connecting import Connecting, FoundHere, Listed, named_source
from tui.engine.intents import Role
from tui.errors import EXIT_FAILED, EXIT_OK, EXIT_UNREACHABLE, UsageError
from tui.linear.connecting import connect, done_lines, plan_lines, test_all, unknown_words
from tui.settings import Paths, Settings

if TYPE_CHECKING:
    from tui.cli.connecting import Connector


class Wishes(Struct, frozen=True):
    """What the command line says."""

    provider: str
    fast: str
    deep: str
    key_stdin: bool
    no_test: bool
    dry_run: bool
    list_models: bool
    config: Path | None

    @property
    def models(self) -> dict[Role, str]:
        """The models that are named."""
        given: dict[Role, str] = {"fast": self.fast.strip(), "deep": self.deep.strip()}
        return {role: name for role, name in given.items() if name}


@click.command("connect")
@click.argument("provider", required=False, default="", metavar="[PROVIDER|URL]")
@click.option("--fast", metavar="MODEL", default="", help="The fast model's name.")
@click.option("--deep", metavar="MODEL", default="", help="The deep model's name.")
@click.option("--key-stdin", is_flag=True, help="Read the key from stdin, for the keyring.")
@click.option("--list", "list_models", is_flag=True, help="Name the models, and change nothing.")
@click.option("--no-test", is_flag=True, help="Write without a short answer of each model before.")
@click.option("--dry-run", is_flag=True, help="Show what would be written, and write nothing.")
@click.option(
    "--config",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Change this config.toml instead of your own.",
)
@click.option("--debug", is_flag=True, help="Write more to the log file.")
def connect_command(provider: str, debug: bool, **given: Any) -> int:
    """Connect a provider or a server, and choose the fast and the deep model.

    Without PROVIDER it asks, step by step, and writes nothing before the end. With it:
    pass show groq | duetto connect groq --key-stdin --fast MODEL --deep MODEL

    Exit codes: 0 written, 1 a model did not answer or the key could not be kept, 2 wrong usage, 3
    the server cannot be reached or refused the key.
    """
    from tui.cli.connecting import Connector

    wishes = Wishes(provider.strip(), **given)
    models = ResolvedModels({}, {}, rehearsal=True)
    flags = ModelFlags(config=wishes.config)
    setup = SessionSetup(Path.cwd(), Settings(), models, Paths.find(), flags=flags)
    connector = Connector(setup)
    connector.check()
    if wishes.provider:
        return asyncio.run(_scripted(connector, wishes))
    if wishes.models or wishes.key_stdin or wishes.list_models or not sys.stdin.isatty():
        raise UsageError(
            "name a provider or a server: duetto connect PROVIDER|URL --fast MODEL --deep MODEL"
        )
    done = asyncio.run(connect(connector, TerminalTalk(), connector.roles()))
    return EXIT_FAILED if done is None or not done[0].kept else EXIT_OK


class TerminalTalk:
    """Asks on the terminal."""

    def say(self, lines: Iterable[str]) -> None:
        """See `linear.connecting.Talk`."""
        _say(lines)

    async def ask(self, question: str, *, secret: bool = False) -> str | None:
        """See `linear.connecting.Talk`; nothing else goes on meanwhile."""
        return _line(f"{question} ", secret=secret)


def _line(question: str, *, secret: bool) -> str | None:
    """What is typed; None: the end of it. Ctrl+C ends duetto, not asyncio's task only."""
    try:
        with hearing_ctrl_c():
            return getpass.getpass(question) if secret else input(question)
    except EOFError:
        click.echo()
        return None


async def _scripted(connector: Connector, wishes: Wishes) -> int:
    """All of it from the command line."""
    chosen = await _source(connector, wishes)
    if wishes.key_stdin:
        chosen = replace(chosen, key=given_key("Key"))
    if not wishes.models and not wishes.list_models:
        raise UsageError("name a model: --fast MODEL, --deep MODEL; --list names all")
    listed = await connector.models(chosen)
    if not (listed.models or listed.is_typed):
        _say_wrong(_with_advice(listed, chosen))
        return EXIT_UNREACHABLE
    names = [one.model for one in listed.models]
    if wishes.list_models:
        click.echo("".join(f"{inert(name)}\n" for name in names), nl=False)
        return EXIT_OK
    for role, model in wishes.models.items():
        if names and not listed.is_typed and model not in names:
            _say_wrong(f"--{role}: {unknown_words(model, names)}")
            return EXIT_FAILED
        chosen = chosen.with_model(role, model)
    return await _written(connector, chosen, wishes)


async def _written(connector: Connector, chosen: Connecting, wishes: Wishes) -> int:
    talk = TerminalTalk()
    if not (wishes.no_test or wishes.dry_run):
        measured = await test_all(connector, talk, chosen)
        if any(one.wrong for one in measured):
            _say_wrong("nothing was written: not all of them answered (--no-test writes anyway)")
            return EXIT_FAILED
    plan = await connector.plan(chosen)
    _say(plan_lines(connector, plan))
    if plan.wrong:
        return EXIT_FAILED
    if wishes.dry_run:
        return EXIT_OK
    written = await connector.write(chosen)
    if written.wrong:
        _say_wrong(f"nothing was written: {written.wrong}")
        return EXIT_FAILED
    _say(done_lines(chosen, written))
    return EXIT_OK if written.kept else EXIT_FAILED


async def _source(connector: Connector, wishes: Wishes) -> Connecting:
    """Who is meant. Raises UsageError: there is no such provider."""

    def nobody(found: FoundHere) -> None:
        """Nobody is told what else is here."""

    sources = await connector.look(nobody)
    found = named_source(wishes.provider, sources)
    if isinstance(found, str):
        raise UsageError(found[:1].lower() + found[1:])
    if found.source.needs_key and not wishes.key_stdin:
        raise UsageError(
            f"{found.source.name} needs a key: pipe it in with --key-stdin, or set its environment"
            " variable"
        )
    return found


def _with_advice(listed: Listed, chosen: Connecting) -> str:
    advice = " --key-stdin gives it another one." if listed.field == "key" else ""
    return f"{chosen.source.title}: {listed.wrong}{advice}"


def _say(lines: Iterable[str]) -> None:
    for line in lines:
        click.echo(inert(line))


def _say_wrong(words: str) -> None:
    click.echo(f"duetto: {inert(words)}", err=True)
