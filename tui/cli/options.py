"""The options that all commands share which talk to a model, and what they resolve to.

::

    @click.command()
    @model_options
    def command(flags: ModelFlags, ...): ...

    models = resolve(settings_for(flags, paths), flags)  # cli.resolution

    @click.command()
    @invocation_options
    def command(asked: Invocation, ...): ...

Flags win over the environment (``DUETTO_ENDPOINT`` and so on), that over ``config.toml``.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, get_args

import click
from msgspec import Struct
from msgspec.structs import replace

from tui.cli.endpoints import DEFAULT_KEY_ENV
from tui.engine.intents import Role
from tui.settings import PatchFormat, PatchTool, Paths, Settings, load

if TYPE_CHECKING:
    from tui.engine.resuming import Resumption
    from tui.engine.session import SessionOptions

ROLES: tuple[Role, ...] = get_args(Role)


class ModelFlags(Struct, frozen=True):
    """What the shared options say; None: not given."""

    endpoint: str | None = None
    fast: str | None = None
    deep: str | None = None
    key_env: str | None = None
    config: Path | None = None
    patch_tool: PatchTool | None = None
    patch_format: PatchFormat | None = None
    debug: bool = False


R = TypeVar("R")
C = TypeVar("C", bound=Callable[..., Any])


record_option = click.option(
    "--record",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Write every frame, keys masked, to a new FILE, for: duetto replay FILE.",
)
trace_option = click.option(
    "--trace",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Write to a new FILE when keys, frames and events came and went, to measure by.",
)
linear_option = click.option(
    "--linear",
    is_flag=True,
    envvar="DUETTO_LINEAR",
    help="Lines of text instead of a screen, for screen readers, pipes and dumb terminals.",
)


class Again(Struct, frozen=True):
    """A session to go on with, and where."""

    folder: Path
    resumption: Resumption

    def options(self, options: SessionOptions, roles: Collection[Role]) -> SessionOptions:
        """How the session behaves then: who answered last answers."""
        turns = self.resumption.stored.turns
        role = next((role for role in roles if turns and turns[-1].began.role == role), None)
        return replace(
            options,
            resumed=self.resumption,
            first_role=role or options.first_role,
            conversation=self.resumption.stored.line.id,
        )


class Invocation(Struct, frozen=True):
    """What the command line asks for."""

    arguments: Sequence[str]
    """Paths to open."""
    flags: ModelFlags
    record: Path | None = None
    trace: Path | None = None
    linear: bool = False
    """In lines of text, by the flag, the environment or the settings."""
    again: Again | None = None
    """An earlier session goes on."""
    lists: bool = False
    """All sessions are listed at the start."""


def invocation_options(command: Callable[..., R]) -> Callable[..., R]:
    """Add the options of a session; the command gets them as one argument, ``asked``.

    Raises SettingsError where it is called.
    """

    @linear_option
    @record_option
    @trace_option
    @model_options
    @functools.wraps(command)
    def gathered(
        linear: bool, record: Path | None, trace: Path | None, flags: ModelFlags, **kwargs: Any
    ) -> R:
        linear = linear or settings_for(flags, Paths.find()).screen.linear
        return command(asked=Invocation((), flags, record, trace, linear), **kwargs)

    return gathered


def model_options(command: Callable[..., R]) -> Callable[..., R]:
    """Add the shared options; the command gets them as one argument, ``flags``."""

    @functools.wraps(command)
    def gathered(*args: Any, **kwargs: Any) -> R:
        found = {name: kwargs.pop(name) for name in ModelFlags.__struct_fields__}
        kwargs["flags"] = ModelFlags(**found)
        return command(*args, **kwargs)

    for option in reversed(_OPTIONS):
        gathered = option(gathered)
    return gathered


_OPTIONS = (
    click.option(
        "--endpoint",
        metavar="NAME|URL",
        envvar="DUETTO_ENDPOINT",
        help="Who serves the models: a provider (groq, anthropic, ollama...) or a server's URL.",
    ),
    click.option("--fast", metavar="MODEL", envvar="DUETTO_FAST", help="The fast model's name."),
    click.option("--deep", metavar="MODEL", envvar="DUETTO_DEEP", help="The deep model's name."),
    click.option(
        "--key-env",
        metavar="NAME",
        envvar="DUETTO_KEY_ENV",
        help=f"Variable that holds the key [default: the provider's, else {DEFAULT_KEY_ENV}].",
    ),
    click.option(
        "--config",
        metavar="FILE",
        type=click.Path(path_type=Path),
        help="Read this config.toml instead of your own.",
    ),
    click.option(
        "--patch-format",
        type=click.Choice(get_args(PatchFormat)),
        help="What the models write their edits in, for this run.",
    ),
    click.option(
        "--patch-tool",
        type=click.Choice(get_args(PatchTool)),
        help="How the models hand their edits over, for this run.",
    ),
    click.option("--debug", is_flag=True, help="Write more to the log file."),
)


class Number(click.FloatRange):
    """A range that "not a number" is outside of."""

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """See click: fails with a sentence."""
        number = float(super().convert(value, param, ctx))
        if math.isnan(number):
            self.fail(f"{value} is not a number.", param, ctx)
        return number


def settings_for(flags: ModelFlags, paths: Paths) -> Settings:
    """The settings of ``--config``, else the user's own. Raises SettingsError."""
    if flags.config is None:
        return load(paths.config_file)
    if flags.config.is_fifo():
        return _once(flags.config)
    return load(flags.config, required=True)


@functools.cache
def _once(pipe: Path) -> Settings:
    """A pipe can be read once, and several ask."""
    return load(pipe, required=True)
