"""Where a session works and with what, and which secrets of it other programs may not see."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tui.cli import logfile
from tui.cli.endpoint_specs import Sources, declared
from tui.cli.resolution import ResolvedModels
from tui.core.stamping import Stamp, no_stamp
from tui.core.wire.address import secrets_in
from tui.errors import DuettoError
from tui.settings import Paths, Settings

if TYPE_CHECKING:
    from tui.effects.recorder import Tracer

SURE_CHARS = 12
"""A variable's value that is shorter may be a word: only the keys in use are masked then."""


@dataclass(frozen=True, slots=True)
class Workplace:
    """Where a session works, and with what."""

    root: Path
    settings: Settings
    models: ResolvedModels
    paths: Paths
    tracer: Tracer | None = None
    """Keeps when things happened, for ``--trace``."""

    @property
    def stamp(self) -> Stamp:
        """The tracer's, or one that keeps nothing."""
        return no_stamp if self.tracer is None else self.tracer.stamp


def withheld(workplace: Workplace, environment: Mapping[str, str]) -> dict[str, str]:
    """The environment without the keys that duetto uses, for commands of the workspace.

    Tests and build scripts are a stranger's code; a variable that holds the same key under
    another name, alone or as a part of its value, is left out too.
    """
    names = workplace.models.key_variables | _unused_variables(workplace, environment)
    keys = {environment[name].strip() for name in names if name in environment} - {""}
    for address in workplace.models.addresses:
        keys.update(secrets_in(address))
    sure = [key for key in keys if len(key) >= SURE_CHARS]
    return {
        name: value
        for name, value in environment.items()
        if name not in names and value.strip() not in keys and not any(key in value for key in sure)
    }


def _unused_variables(workplace: Workplace, environment: Mapping[str, str]) -> set[str]:
    """The variables of endpoints that the settings have and nobody asks now."""
    sources = Sources(workplace.settings, environment, workplace.paths.providers_dir)
    found = set()
    for name, table in workplace.settings.endpoints.items():
        if table.key_env is None and name not in workplace.models.endpoints:
            with contextlib.suppress(DuettoError):  # said when it is used
                found.add(declared(name, sources).spec.key_env)
        found.add(table.key_env or "")
    return found - {""}


def secrets_of(workplace: Workplace) -> Iterator[str]:
    """The keys in use, and whatever else of an address nobody may see."""
    for address in workplace.models.addresses:
        yield from secrets_in(address)
    for name in workplace.models.key_variables:
        yield os.environ.get(name, "").strip()
    yield from logfile.proxy_passwords(os.environ)
