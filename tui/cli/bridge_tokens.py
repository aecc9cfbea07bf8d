"""``duetto bridge token``: who may use a team's bridge."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click
import msgspec

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
    from tui.bridge.team.limits import Limits
    from tui.bridge.team.users import add_user

    token = add_user(tokens, name, Limits(**given))
    click.echo(token)
    click.echo(f"This is the token of {name}; it is not kept and cannot be shown again.", err=True)


@token_group.command("list")
@tokens_option
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def listed(tokens: Path, as_json: bool) -> None:
    """List the users, and limits of their own."""
    from tui.bridge.team.users import read_users

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
    from tui.bridge.team.users import revoke_user

    revoke_user(tokens, name)
    click.echo(f"{name} is out.", err=True)
