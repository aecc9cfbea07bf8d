"""Which models an endpoint has, asked with its key; where there are none, why."""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections.abc import Iterable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

from tui.errors import EndpointError

if TYPE_CHECKING:
    from tui.bridge.endpoints.base import EndpointSpec, ModelFacts

ASK_S = 10.0
"""A provider that was chosen and has not named its models by then is not waited for."""
NO_MODEL = "It has no model that could answer."
_OTHERS = re.compile(
    r"embed|whisper|\btts\b|-tts|dall-e|moderation|transcri|rerank|image|realtime|audio|sora|guard"
)
_SIZE = re.compile(r"(?<![\w.])(\d+(?:\.\d+)?)b(?![a-z])")


class ModelList(NamedTuple):
    """What somebody said of its models."""

    facts: Mapping[str, ModelFacts]
    wrong: str = ""
    """Why there is no list, and what to do; empty if there is one."""
    key_refused: bool = False
    gives_none: bool = False
    """It answers, and has no list: the name is typed."""


async def listed(name: str, spec: EndpointSpec, key: str, patience_s: float = ASK_S) -> ModelList:
    """Ask an endpoint for its models; what goes wrong is said in words."""
    await asyncio.to_thread(_import_upstream)
    from tui.bridge.endpoints.base import Broken, Refused
    from tui.bridge.providers.discovery import Discovery
    from tui.bridge.targets import target
    from tui.bridge.upstream.client import Upstream

    upstream = Upstream()
    try:
        discovery = Discovery(target(name, spec, key), upstream)
        async with asyncio.timeout(patience_s):
            models = await discovery.models()
    except TimeoutError:
        return ModelList({}, f"No answer within {patience_s:.0f} s.")
    except Refused as error:
        refused = error.status in (401, 403)
        return ModelList({}, str(error), refused, gives_none=error.status in (404, 405, 501))
    except (EndpointError, Broken) as error:
        return ModelList({}, str(error))
    finally:
        with contextlib.suppress(OSError):
            await upstream.close()
    chat = _that_chat(models)
    none_told = discovery.form == "none" and not chat
    return ModelList(
        {one: models[one] for one in chat}, "" if chat else NO_MODEL, gives_none=none_told
    )


def _that_chat(names: Iterable[str]) -> list[str]:
    """Without those whose names say that they do something else, unless nothing is left then."""
    found = sorted(names, key=_by_size)
    return [name for name in found if not _OTHERS.search(name.lower())] or found


def _by_size(model: str) -> tuple[float, str]:
    """Smaller models first, where the name says how large they are; then by name."""
    sizes = [float(size) for size in _SIZE.findall(model.lower())]
    return (max(sizes) if sizes else 0.0, model.lower())


def _import_upstream() -> None:
    """In a thread: it takes a while, and the screen is to go on."""
    for module in ("tui.bridge.providers.discovery", "tui.bridge.upstream.client"):
        import_module(module)
