"""``duetto bridge``: serve models behind one socket, for this machine or for a team."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click
import msgspec
from msgspec import Struct
from msgspec.structs import replace

from tui.cli.options import Number
from tui.errors import UsageError

if TYPE_CHECKING:
    from tui.bridge.endpoints.base import EndpointSpec, Target
    from tui.bridge.rehearsal.endpoint import Rehearsal


C = TypeVar("C", bound=Callable[..., Any])
_MOST = 10**12
LIMITS = {
    "connections": "Connections at a time.",
    "in_flight": "Responses at a time.",
    "requests_minute": "Responses in any 60 seconds.",
    "tokens_minute": "Tokens, input and output, in any 60 seconds.",
}
"""The fields of a user's limits, and what they are."""


def limit_options(prefix: str) -> Callable[[C], C]:
    """Add an option for each limit; the command gets them by their names."""

    def added(command: C) -> C:
        for name, what in reversed(LIMITS.items()):
            flag = f"--{prefix}{name.replace('_', '-')}"
            kind = click.IntRange(1, _MOST)
            command = click.option(flag, name, type=kind, metavar="N", help=what)(command)
        return command

    return added


def tokens_option(command: C) -> C:
    """Add ``--tokens FILE``."""
    return click.option(
        "--tokens",
        type=click.Path(path_type=Path, dir_okay=False),
        metavar="FILE",
        required=True,
        help="The file of users.",
    )(command)


@click.group("token")
def token_group() -> None:
    """Add, list and revoke users of a bridge for a team; it need not be restarted."""


@token_group.command("add")
@click.argument("name")
@tokens_option
@limit_options("")
def add(name: str, tokens: Path, **given: int | None) -> None:
    """Add a user and print their token, which is shown only now: the file keeps its hash."""
    from tui.bridge.team.users_file import Limits, add_user

    token = add_user(tokens, name, Limits(**given))
    click.echo(token)
    click.echo(f"This is the token of {name}; it is not kept and cannot be shown again.", err=True)


@token_group.command("list")
@tokens_option
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def listed(tokens: Path, as_json: bool) -> None:
    """List the users, and limits of their own."""
    from tui.bridge.team.users_file import read_users

    users = read_users(tokens)
    told = {
        name: {"added": user.added, "limits": msgspec.to_builtins(user.limits)}
        for name, user in sorted(users.items())
    }
    if as_json:
        click.echo(json.dumps(told))
        return
    width = max(map(len, told), default=0)
    for name, about in told.items():
        limits = ", ".join(f"{key} {value}" for key, value in about["limits"].items())
        click.echo(f"{name:{width}}  {about['added']}  {limits}".rstrip())


@token_group.command("revoke")
@click.argument("name")
@tokens_option
def revoke(name: str, tokens: Path) -> None:
    """Take a user out: running bridges end their connections within a second."""
    from tui.bridge.team.users_file import revoke_user

    revoke_user(tokens, name)
    click.echo(f"{name} is out.", err=True)


_FILE = click.Path(path_type=Path, dir_okay=False)
_REHEARSAL = (
    click.option(
        "--fast-rate",
        type=Number(1, 20_000),
        metavar="N",
        help="Tokens a second of rehearsal-fast [default: 1000].",
    ),
    click.option(
        "--deep-rate",
        type=Number(1, 20_000),
        metavar="N",
        help="Tokens a second of rehearsal-deep [default: 65].",
    ),
    click.option("--seed", type=int, metavar="N", help="Which exercises the fast one gets wrong."),
    click.option(
        "--mistakes",
        type=Number(0, 1),
        metavar="SHARE",
        help="Share of the exercises that the fast one gets wrong at first, 0 to 1.",
    ),
    click.option(
        "--any-model",
        is_flag=True,
        help="Requests for any other model are played by the deep one.",
    ),
)
_TEAM = (
    click.option("--listen", metavar="HOST:PORT", help="Serve there until SIGTERM, for a team."),
    click.option("--tls-cert", type=_FILE, metavar="FILE", help="Certificate and chain, PEM."),
    click.option("--tls-key", type=_FILE, metavar="FILE", help="Its key, PEM, no password."),
    click.option("--behind-tls", is_flag=True, help="A balancer in front ends TLS."),
    click.option("--tokens", type=_FILE, metavar="FILE", help="The users: duetto bridge token."),
    click.option("--log", type=_FILE, metavar="FILE", help="JSON lines [default: stderr]."),
    click.option(
        "--drain",
        type=Number(0, 86_400),
        metavar="SECONDS",
        help="At SIGTERM wait this long for running responses [default: 30].",
    ),
)


class TeamFlags(Struct, frozen=True):
    """What only a bridge that listens for others is told; None: not given."""

    listen: str | None
    tls_cert: Path | None
    tls_key: Path | None
    behind_tls: bool
    tokens: Path | None
    log: Path | None
    drain: float | None

    def given(self) -> list[str]:
        """The flags that were given, but for ``--listen``."""
        names = [name for name in self.__struct_fields__ if name != "listen"]
        return [f"--{name.replace('_', '-')}" for name in names if getattr(self, name)]


def _with(options: Sequence[Callable[[C], C]]) -> Callable[[C], C]:
    def added(command: C) -> C:
        for option in reversed(options):
            command = option(command)
        return command

    return added


@click.group(
    "bridge",
    commands={"token": token_group},
    invoke_without_command=True,
    subcommand_metavar="[token add|list|revoke]",
)
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="0 takes a free port.")
@click.option("--config", type=_FILE, metavar="FILE", help="Read this config.toml, not your own.")
@click.option("--endpoint", multiple=True, metavar="NAME", help="Serve this provider, too.")
@_with(_REHEARSAL)
@click.option(
    "--max-age",
    type=Number(0, 1_000_000, min_open=True),
    metavar="SECONDS",
    help="End each connection at this age, as services do, to test a client's recovery.",
)
@_with(_TEAM)
@limit_options("user-")
@click.pass_context
def bridge_command(
    context: click.Context, /, port: int, max_age: float | None, **given: Any
) -> None:
    """Serve your endpoints, and the rehearsal model, over Responses WebSocket mode.

    Prints one JSON line with the url and the bearer token, and serves on loopback until its stdin
    closes or SIGTERM comes; a model is named ENDPOINT/MODEL. With --listen it serves a team.
    """
    if context.invoked_subcommand is not None:
        return
    limits = {name: given.pop(name) for name in LIMITS}
    team = TeamFlags(**{name: given.pop(name) for name in TeamFlags.__struct_fields__})
    targets = configured(given.pop("config"), given.pop("endpoint"))
    names = {"fast_rate": "fast_tokens_s", "deep_rate": "deep_tokens_s"}
    chosen = {names.get(key, key): value for key, value in given.items() if value is not None}
    if team.listen is not None:
        if port:
            raise UsageError("--port is for a bridge of your own: say it in --listen HOST:PORT")
        _serve_team(team, (limits, max_age), _rehearsal(chosen), targets)
        return
    alone = [*team.given(), *(f"--user-{k.replace('_', '-')}" for k, v in limits.items() if v)]
    if alone:
        raise UsageError(f"{alone[0]} is for a bridge that serves others: add --listen HOST:PORT")
    from tui.bridge.__main__ import serve

    code = serve(_rehearsal(chosen), port, max_age_s=max_age, targets=targets)
    if code:
        sys.exit(code)


def configured(config: Path | None, names: Sequence[str]) -> dict[str, Target]:
    """The endpoints of the settings, and the providers that are named, with their keys.

    Raises UsageError, SettingsError, EndpointError: one of them cannot be.
    """
    from tui.cli.endpoints import Sources, declared, endpoint_specs
    from tui.settings import Paths, load

    paths = Paths.find()
    settings = load(config or paths.config_file, required=config is not None)
    specs = endpoint_specs(settings, os.environ, paths.providers_dir)
    sources = Sources(settings, os.environ, paths.providers_dir)
    specs.update({name: declared(name, sources).spec for name in names if name not in specs})
    if not specs:
        return {}
    from tui.bridge.targets import target

    keys = _keys(specs)
    for name, spec in specs.items():
        if spec.key_env and not keys[name] and not declared(name, sources).key_optional:
            click.echo(f"duetto: no key for {name}: {spec.key_env} is not set", err=True)
    return {name: target(name, spec, keys[name]) for name, spec in specs.items()}


def _keys(specs: Mapping[str, EndpointSpec]) -> dict[str, str]:
    """The keys by endpoint, side by side: a keyring that does not answer is waited for once."""
    from concurrent.futures import ThreadPoolExecutor

    from tui.bridge.targets import key_of

    with ThreadPoolExecutor(len(specs)) as pool:
        found = pool.map(lambda name: key_of(name, specs[name], os.environ), specs)
        return dict(zip(specs, found, strict=True))


def _rehearsal(chosen: Mapping[str, Any]) -> Rehearsal:
    from tui.bridge.rehearsal.endpoint import Rehearsal

    return replace(Rehearsal(), **chosen)


def _serve_team(
    team: TeamFlags,
    limited: tuple[Mapping[str, int | None], float | None],
    rehearsal: Rehearsal,
    targets: Mapping[str, Target],
) -> None:
    if find_spec("prometheus_client") is None:
        raise UsageError(
            "a bridge for a team needs the package prometheus-client for its figures:"
            " pip install 'duetto[team]'"
        )
    from tui.bridge.team.service import DRAIN_S, ServiceOptions, listen_address, serve_team
    from tui.bridge.team.users_file import Limits

    limits, max_age_s = limited
    options = ServiceOptions(
        listen_address(team.listen or ""),
        tokens=team.tokens,
        cert=team.tls_cert,
        key=team.tls_key,
        fronted=team.behind_tls,
        limits=Limits(**limits),
        log=team.log,
        drain_s=DRAIN_S if team.drain is None else team.drain,
        max_age_s=max_age_s,
    )
    serve_team(options, rehearsal, targets)
