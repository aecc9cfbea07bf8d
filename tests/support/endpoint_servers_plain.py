"""The server of the plug-in in `plain_words_kind`, and how that plug-in is installed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.support.endpoint_servers import (
    CUT,
    HOLD,
    SERVED,
    STALL,
    Call,
    Hold,
    Item,
    Plan,
    Refuse,
    Script,
    Think,
    halved,
    pieces,
    sse,
)
from tests.support.endpoint_servers_responses import Responses

_ENDS = {"end": ("completed", None), "length": ("incomplete", "max_output_tokens")}
_ENDS["filter"] = ("incomplete", "content_filter")


class Plain(Responses):
    """See `endpoint_servers.Dialect`."""

    kind = "plain-words"
    path = "/words"

    def plan(self, script: Script) -> Plan:
        told: Plan = [sse(["served", SERVED])]
        index = 0
        for item in script.items:
            if isinstance(item, Hold):
                told.append(HOLD)
            else:
                told += _item(item, index)
                index += 1
        tokens = script.tokens
        if script.after == "error":
            return [*told, sse(["error", "It broke inside."])]
        if script.after in ("cut", "stall"):
            return [*told, CUT if script.after == "cut" else STALL]
        if script.after == "garbage":
            told.append(sse("this is no JSON"))
        counts = (tokens.input, tokens.output, tokens.cached, tokens.reasoning)
        return [*told, sse(["used", *counts]), sse(["end", *_ENDS[script.stop]])]


def _item(item: Item, index: int) -> Plan:
    assert not isinstance(item, Hold)
    family: list[str] = []
    begun: dict[str, Any] = {"type": "message"}
    if isinstance(item, Think):
        begun = {"type": "reasoning", "encrypted_content": item.seal}
    elif isinstance(item, Refuse):
        family = ["refusal"]
    elif isinstance(item, Call):
        kind = "custom_tool_call" if item.custom else "function_call"
        begun = {"type": kind, "name": item.name, "call_id": item.call_id}
    deltas = [sse(["more", index, text, *family]) for text in pieces(item.text)]
    held = bool(getattr(item, "held", False))
    return [sse(["begin", index, begun]), *halved(deltas, held=held), sse(["done", index])]


@contextmanager
def installed(
    folder: Path, patch: pytest.MonkeyPatch, entries: dict[str, str], name: str = "plain-words"
) -> Iterator[Path]:
    """A package as an installer leaves it, in a folder of its own on the path of imports."""
    info = folder / f"{name.replace('-', '_')}-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    lines = "".join(f"{kind} = {value}\n" for kind, value in entries.items())
    (info / "entry_points.txt").write_text(f"[duetto.endpoint]\n{lines}")
    with patch.context() as patched:
        patched.syspath_prepend(str(folder))
        yield folder
