"""The options that all commands share which talk to a model, and what they resolve to.

::

    @click.command()
    @model_options
    def command(flags: ModelFlags, ...): ...

    models = resolve(settings_for(flags, paths), flags)  # cli.resolution

Flags win over the environment (``DUETTO_ENDPOINT`` and so on), that over ``config.toml``.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, get_args

import click
from msgspec import Struct

from tui.cli.endpoints import DEFAULT_KEY_ENV
from tui.engine.intents import Role
from tui.settings import PatchFormat, PatchTool, Paths, Settings, load

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
"""The command asks `is_linear`."""


def is_linear(flag: bool, flags: ModelFlags) -> bool:
    """Whether the linear mode is wanted: by flag, environment or settings.

    Raises SettingsError.
    """
    return flag or settings_for(flags, Paths.find()).screen.linear


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
