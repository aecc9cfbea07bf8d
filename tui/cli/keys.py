"""``duetto keys``: keys in the system's keyring, for providers and endpoints.

A key is read from the terminal without being shown, or from stdin; it is never an argument, which
every process of this user could read.
"""

from __future__ import annotations

import sys

import click

from tui.cli import endpoints
from tui.cli.options import ModelFlags, settings_for
from tui.cli.process import hearing_ctrl_c
from tui.core.inert_text import inert
from tui.errors import EXIT_FAILED, EXIT_OK, UsageError
from tui.settings import Paths
from tui.toml_tables import is_variable

LONGEST = 8192


@click.group("keys")
def keys_command() -> None:
    """Keep keys in the system's keyring, where duetto's bridge finds them.

    A key in the environment goes before the keyring's.
    """


@keys_command.command("set")
@click.argument("name", metavar="NAME")
def set_command(name: str) -> int:
    """Store the key of NAME, a provider or an endpoint of config.toml.

    It is asked for, and not shown; or piped in: pass show groq | duetto keys set groq
    """
    paths = Paths.find()
    _check(name, paths)
    key = given_key(f"Key of {inert(name)}")
    from tui.bridge.targets import store

    store(name, key)
    endpoints.remember(paths.state_dir, name)
    click.echo(f"the key of {inert(name)} is in the system's keyring")
    return EXIT_OK


@keys_command.command("list")
def list_command() -> int:
    """Name those whose keys were stored; no key is shown."""
    names = endpoints.names(Paths.find().state_dir)
    for name in names:
        click.echo(inert(name))
    if not names:
        click.echo("no key is stored: duetto keys set NAME", err=True)
    return EXIT_OK


@keys_command.command("delete")
@click.argument("name", metavar="NAME")
def delete_command(name: str) -> int:
    """Remove the key of NAME from the keyring."""
    from tui.bridge.targets import remove

    paths = Paths.find()
    there = remove(name)
    endpoints.forget(paths.state_dir, name)
    shown = inert(name)
    click.echo(f"the key of {shown} is gone" if there else f"there was no key of {shown}")
    return EXIT_OK if there else EXIT_FAILED


def _check(name: str, paths: Paths) -> None:
    """Raises UsageError: nobody is called so."""
    from tui.bridge.providers import provider_files

    settings = settings_for(ModelFlags(), paths)
    known = sorted({*settings.endpoints, *provider_files.names(paths.providers_dir)})
    if name in known:
        return
    if len(name) > 40 or (name and not is_variable(name.replace("-", "_"))):
        # whatever it is, it may be a key: it is not repeated
        raise UsageError("that is not the name of a provider or an endpoint: duetto keys set NAME")
    raise UsageError(f"there is no provider or endpoint {name!r}{provider_files.near(name, known)}")


def given_key(question: str) -> str:
    """The key as it is given, by hand or through a pipe. Raises UsageError without the key."""
    if sys.stdin.isatty():
        with hearing_ctrl_c():
            key = str(click.prompt(question, hide_input=True, err=True)).strip()
    else:
        key = sys.stdin.buffer.read(LONGEST + 1).decode("utf-8", "replace").strip()
    if not key:
        raise UsageError("no key was given; nothing is stored")
    if len(key) > LONGEST or not key.isascii() or not key.isprintable() or " " in key:
        raise UsageError("that is not a key: it has spaces, line breaks or odd characters")
    return key
