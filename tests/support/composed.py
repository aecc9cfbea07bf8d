"""A session as the command line puts it together, and a user in front of it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from tests.support.seat import Seat
from tui.cli.composition import Composition
from tui.cli.models import SessionSetup, resolve
from tui.cli.options import ModelFlags
from tui.engine.session import SessionOptions
from tui.settings import Paths, Settings, Transport

DEFAULT, PLAIN, NO_FLAGS = Settings(), SessionOptions(), ModelFlags()


@asynccontextmanager
async def composed(
    root: Path,
    settings: Settings = DEFAULT,
    flags: ModelFlags = NO_FLAGS,
    environ: Mapping[str, str] = {},
    *,
    transport: Transport | None = None,
    **more: Any,
) -> AsyncIterator[tuple[Seat, Composition]]:
    """In a folder, with a home beside it; ``transport``: of the flags' endpoint."""
    paths = Paths.find({"DUETTO_HOME": str(root.with_name(f"{root.name}-home"))})
    models = resolve(settings, flags, environ, paths)
    if transport is not None:
        models.endpoints["cli"] = replace(models.endpoints["cli"], transport=transport)
    place = SessionSetup(root, settings, models, paths)
    composition = Composition(place, **{"options": PLAIN, "watched": False, **more})
    try:
        yield Seat(composition.session), composition
    finally:
        await composition.close()
