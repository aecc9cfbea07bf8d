"""Connecting a model, with real keys, files and servers; see `tui.engine.connecting`.

``duetto connect`` does it without a screen: with a provider and models on the command line nothing
is asked; a key is read from stdin, never from an argument, which every process of this user could
read.
"""

from __future__ import annotations

import asyncio
import contextlib
import difflib
import getpass
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import urlsplit

import click
import msgspec
from msgspec import Struct
from msgspec.structs import replace

from tui.cli import endpoints, logfile
from tui.cli.catalogue import ModelList, Probing, Tell, listed, look_for_sources, offers_of
from tui.cli.endpoints import Sources, checked_url, declared
from tui.cli.keys import given_key
from tui.cli.models import ResolvedModels, SessionSetup, resolve
from tui.cli.options import ModelFlags
from tui.cli.process import hearing_ctrl_c
from tui.cli.settings_file import Placed, SettingsChange, changed, plain, write
from tui.cli.target import short_path
from tui.core.inert_text import inert
from tui.core.wire.address import is_loopback, shown
from tui.engine.connecting import (
    OTHER,
    ROLES,
    Connecting,
    ConnectOutcome,
    FoundHere,
    Listed,
    Measured,
    ModelSource,
    Plan,
    PlannedLine,
    key_wrong,
    named_source,
)
from tui.engine.intents import Role
from tui.errors import (
    EXIT_FAILED,
    EXIT_OK,
    EXIT_UNREACHABLE,
    DuettoError,
    SettingsError,
    UsageError,
)
from tui.linear.connecting import connect, done_lines, plan_lines, test_all, unknown_words
from tui.settings import EndpointSettings, ModelSettings, ModelsSettings, Paths, Settings, parse

if TYPE_CHECKING:
    from tui.bridge.endpoints.base import EndpointSpec
    from tui.cli.catalogue import Catalogue


_OTHER_SOURCE = ModelSource(
    OTHER, "Another server", "by its address", needs_address=True, ready=False
)
_CONTEXT_LINES = 1


class Connector:
    """See `engine.connecting.ConnectPort`."""

    def __init__(self, setup: SessionSetup, session: Catalogue | None = None) -> None:
        """``session``: the one that runs takes keys that no keyring keeps."""
        self._setup = setup
        self._session = session
        self._file = setup.flags.config or setup.paths.config_file
        self.config_file = short_path(self._file)
        self._measured: dict[str, Measured] = {}
        self._read: str | None = None
        """The settings file as `plan` saw it; None: there was none."""

    async def look(self, tell: Tell) -> tuple[ModelSource, ...]:
        """See `ConnectPort`."""
        found = await look_for_sources(self._setup.paths, self._setup.keys, tell)
        names = {one.name for one in found}
        own = [one for one in self._own_sources() if one.name not in names]
        return (*own, *found, _OTHER_SOURCE)

    async def models(self, chosen: Connecting) -> Listed:
        """See `ConnectPort`."""
        source = chosen.source
        if source.models and not chosen.key and not chosen.url:
            return Listed(source.models)
        if chosen.key and (wrong := key_wrong(chosen.key)):
            return Listed((), wrong, "key")
        logfile.mask([chosen.key])
        try:
            name, spec, key = await asyncio.to_thread(self._asked, chosen)
        except DuettoError as error:
            address = source.needs_address or not source.name
            return Listed((), _sentence(error), "address" if address else "")
        found = await listed(name, spec, key)
        return self._told(chosen, name, found, urlsplit(spec.url).hostname or name)

    async def test(self, chosen: Connecting, tell: Callable[[Measured], None]) -> None:
        """See `ConnectPort`."""
        from tui.cli.network import Network
        from tui.effects.system import MonotonicClock

        names = list(dict.fromkeys(model for _, model in chosen.models))
        self._measured = {}
        for model in names:
            tell(Measured(model))
        try:
            setup = await asyncio.to_thread(self._prospect, chosen)
        except DuettoError as error:
            for model in names:
                tell(Measured(model, wrong=_sentence(error)))
            return
        network = Network(setup, MonotonicClock(), forget=True)
        try:
            endpoint = next(iter(setup.models.endpoints))
            if network.bridged(endpoint):
                await network.warm(endpoint)
            for model in names:
                self._measured[model] = await Probing(network.wire(endpoint, "test")).speed(model)
                tell(self._measured[model])
        finally:
            await network.close()

    async def plan(self, chosen: Connecting) -> Plan:
        """See `ConnectPort`."""
        return await asyncio.to_thread(self._plan, chosen)

    async def write(self, chosen: Connecting) -> ConnectOutcome:
        """See `ConnectPort`."""
        return await asyncio.to_thread(self._write, chosen)

    def check(self) -> None:
        """Raises SettingsError: the settings cannot be read as they are."""
        self._settings()

    def roles(self) -> dict[Role, str]:
        """The models of the settings as they are."""
        try:
            models = self._settings().models
        except DuettoError:
            return {}
        found: dict[Role, str] = {}
        for role in ROLES:
            model = models.fast if role == "fast" else models.deep
            if model is not None:
                found[role] = model.name
        return found

    # what was chosen, as settings

    def _own_sources(self) -> list[ModelSource]:
        """The tables of the user's settings."""
        try:
            settings = self._settings()
        except DuettoError:
            return []
        return [
            ModelSource(
                name,
                name,
                f"in your settings: {urlsplit(table.url).hostname or table.provider}",
                asks=f"asks {name} for its models",
            )
            for name, table in settings.endpoints.items()
        ]

    def _settings(self) -> Settings:
        text = _text_of(self._file)
        return Settings() if text is None else parse(text, str(self._file))

    def _table(self, chosen: Connecting) -> tuple[str, dict[str, str]]:
        """The endpoint's name and, where the settings have to declare it, its table.

        Raises UsageError: that is no address.
        """
        source = chosen.source
        if not chosen.url:
            if source.needs_address:
                raise UsageError("type the server's address")
            return source.name, {}
        url = chosen.url.strip()
        if "://" not in url:
            url = f"https://{url}"
        checked_url(url, {}, "the address")
        if source.name:
            return source.name, {"provider": source.name, "url": url}
        host = urlsplit(url).hostname or ""
        taken = self._settings().endpoints
        name = next(
            (name for name, table in taken.items() if table.url == url),
            _name_for(host, {*taken, *self._providers()}),
        )
        variable = f"{re.sub('[^A-Z0-9]', '_', name.upper())}_API_KEY" if chosen.key else ""
        return name, {"url": url, "key_env": variable}

    def _providers(self) -> list[str]:
        from tui.bridge.providers import provider_files

        return list(provider_files.names(self._setup.paths.providers_dir))

    def _with_table(self, chosen: Connecting) -> tuple[str, Settings]:
        """The settings as they will be, but for the models."""
        name, table = self._table(chosen)
        settings = self._settings()
        if table:
            old = settings.endpoints.get(name, EndpointSettings())
            new = msgspec.structs.replace(old, **table)
            endpoints_now = {**settings.endpoints, name: new}
            settings = msgspec.structs.replace(settings, endpoints=endpoints_now)
        return name, settings

    def _spec(self, chosen: Connecting) -> tuple[str, EndpointSpec, dict[str, str]]:
        """The endpoint, how it is asked, and the variables that it is asked with."""
        name, settings = self._with_table(chosen)
        environment = self._setup.keys
        paths = self._setup.paths
        sources = Sources(settings, environment, paths.providers_dir, state_dir=paths.state_dir)
        spec = declared(name, sources).spec
        if chosen.key and spec.key_env:
            environment = {**environment, spec.key_env: chosen.key}
        return name, spec, environment

    def _asked(self, chosen: Connecting) -> tuple[str, EndpointSpec, str]:
        from tui.bridge.targets import key_of

        name, spec, environment = self._spec(chosen)
        return name, spec, key_of(name, spec, environment)

    def _told(self, chosen: Connecting, name: str, found: ModelList, host: str) -> Listed:
        offers = offers_of(name, found)
        if found.key_refused:
            return Listed((), f"{host} refused this key." if chosen.key else found.wrong, "key")
        if found.gives_none:
            return Listed(offers, "It gives no list: type the model's name.", is_typed=True)
        at: Literal["", "address"] = "address" if chosen.source.needs_address else ""
        return Listed(offers, found.wrong, at if found.wrong else "")

    def _prospect(self, chosen: Connecting) -> SessionSetup:
        """A session that asks what was chosen. Raises DuettoError."""
        name, settings = self._with_table(chosen)
        _, spec, environment = self._spec(chosen)
        models = {role: ModelSettings(name=model, endpoint=name) for role, model in chosen.models}
        settings = msgspec.structs.replace(settings, models=ModelsSettings(**models))
        flags = replace(self._setup.flags, endpoint=None, fast=None, deep=None, key_env=None)
        given = dict(self._setup.given)
        if chosen.key and spec.key_env:
            given[spec.key_env] = chosen.key
        resolved = resolve(settings, flags, environment, self._setup.paths)
        return SessionSetup(
            self._setup.root, settings, resolved, self._setup.paths, None, flags, given
        )

    def _change(self, chosen: Connecting) -> tuple[str, SettingsChange]:
        name, table = self._table(chosen)
        models: dict[Role, Placed] = {role: Placed(model, name) for role, model in chosen.models}
        return name, SettingsChange(models, {name: table} if table else {})

    # writing

    def _plan(self, chosen: Connecting) -> Plan:
        try:
            self._read = _text_of(self._file)
            name, change = self._change(chosen)
            new = changed(self._read or "", change, self.config_file)
        except SettingsError as error:
            return Plan((), wrong=_sentence(error), by_hand=plain(self._change(chosen)[1]))
        except DuettoError as error:
            return Plan((), wrong=_sentence(error))
        return Plan(_difference(self._read or "", new), self._key_words(chosen, name))

    def _key_words(self, chosen: Connecting, name: str) -> str:
        if not chosen.key:
            return ""
        from tui.bridge.targets import keyring_title

        _, spec, _ = self._spec(chosen)
        if title := keyring_title():
            return f"The key goes into the system's keyring ({title}), as {name}."
        return (
            "This system has no keyring, and a key is never written to a file: this session"
            f" uses it, the next one takes it from the variable {spec.key_env}."
        )

    def _write(self, chosen: Connecting) -> ConnectOutcome:
        notes: list[str] = []
        try:
            name, change = self._change(chosen)
            _, spec, _ = self._spec(chosen)
            text = changed(self._read or "", change, self.config_file)
            with self._key_kept(chosen, name, spec) as kept:
                if text != (self._read or ""):
                    write(self._file, self._read, text)
        except DuettoError as error:
            return ConnectOutcome(wrong=_sentence(error))
        variable = spec.key_env
        shadowed = os.environ.get(variable, "").strip() not in ("", chosen.key)
        if chosen.key and (not kept or shadowed):
            self._setup.given[variable] = chosen.key
        elif chosen.key:
            self._setup.given.pop(variable, None)
        if chosen.key and not kept:
            notes = [f"Set {variable} before the next start; in a shell:", export_line(variable)]
        elif chosen.key and shadowed:
            notes = [f"{variable} is set to another key and goes first: unset it in your shell."]
        self._keep_speeds(chosen, spec)
        if self._session is not None:
            self._session.renew(name)
        return ConnectOutcome(name, notes=tuple(notes), kept=bool(kept or not chosen.key))

    def _keep_speeds(self, chosen: Connecting, spec: EndpointSpec) -> None:
        """What was measured is the user's own speed of these models from now on."""
        from tui.effects.known_models import MeasuredSpeeds

        speeds = MeasuredSpeeds(self._setup.paths.state_dir)
        for model in dict.fromkeys(model for _, model in chosen.models):
            one = self._measured.get(model)
            if one and one.is_counted and one.tokens_s and one.ttft_s is not None:
                speeds.keep(shown(spec.url), model, one.tokens_s, one.ttft_s)

    @contextlib.contextmanager
    def _key_kept(self, chosen: Connecting, name: str, spec: EndpointSpec) -> Iterator[bool]:
        """The key is in the keyring, and out again if the settings cannot be written.

        Gives whether a keyring took it. Raises UsageError: it refused.
        """
        from tui.bridge.targets import keyring_title, remove, store, stored_key

        if not (chosen.key and spec.key_env) or not keyring_title():
            yield False
            return
        before = stored_key((name,))
        noted = name in endpoints.names(self._setup.paths.state_dir)
        store(name, chosen.key)
        try:
            endpoints.remember(self._setup.paths.state_dir, name)
            yield True
        except BaseException:
            if before:
                store(name, before)
            else:
                remove(name)
            if not noted:
                endpoints.forget(self._setup.paths.state_dir, name)
            raise


def export_line(variable: str) -> str:
    """What gives a variable a key without showing it, or keeping it in the shell's history."""
    return f"read -rs {variable} && export {variable}"


def _text_of(file: Path) -> str | None:
    from tui import toml_tables

    return toml_tables.read(file, required=False)


def _difference(old: str, new: str) -> tuple[PlannedLine, ...]:
    """The lines that change, with those around them."""
    rows = [row for row in difflib.ndiff(old.splitlines(), new.splitlines()) if row[0] != "?"]
    near = {
        at + step
        for at, row in enumerate(rows)
        if row[0] != " "
        for step in range(-_CONTEXT_LINES, _CONTEXT_LINES + 1)
    }
    signs: dict[str, Literal[" ", "+", "-"]] = {"+": "+", "-": "-"}
    return tuple(
        PlannedLine(signs.get(row[0], " "), row[2:]) for at, row in enumerate(rows) if at in near
    )


def _name_for(host: str, taken: set[str]) -> str:
    """A name for a server of this host that nobody has."""
    parts = [part for part in host.lower().split(".") if part not in ("www", "api")]
    stem = "localhost" if is_loopback(host) else (parts[-2] if len(parts) > 1 else "".join(parts))
    stem = re.sub(r"[^a-z0-9-]", "-", stem).strip("-") or "server"
    numbers = (f"{stem}-{number}" for number in range(2, 1000))
    return stem if stem not in taken else next(name for name in numbers if name not in taken)


def _sentence(error: Exception) -> str:
    words = str(error)
    words = words[:1].upper() + words[1:]
    return words if words.endswith((".", "?", "!")) else f"{words}."


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

    def ignore(found: FoundHere) -> None:
        """What else is found on this machine is not wanted here."""

    sources = await connector.look(ignore)
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
