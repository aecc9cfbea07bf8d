"""Kinds of endpoints that other packages bring: found by entry point, and harmless when broken."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.endpoint_kinds import Stand, failure, standing
from tests.support.endpoint_servers import Say, Script
from tests.support.endpoint_servers_plain import installed
from tests.support.tables import each
from tui.bridge.endpoints.base import EndpointSpec, Refused
from tui.bridge.endpoints.kinds import make
from tui.bridge.targets import target

BROKEN = """
import asyncio

def raises(target, upstream):
    raise RuntimeError("with sk-very-secret-0123456789 in it")

class Lacking:
    async def answer(self, asked, telling):
        pass

def lacking(target, upstream):
    return Lacking()

class Failing:
    async def answer(self, asked, telling):
        if asked.model == "begun":
            telling.item_added({"type": "message"})
        raise ValueError("with sk-very-secret-0123456789 in it")
    async def warm(self):
        raise ValueError("cold")
    async def models(self):
        raise ValueError("none")
    async def close(self):
        raise ValueError("open")

def failing(target, upstream):
    return Failing()
"""


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A package with plug-ins that do not work."""
    folder = tmp_path / "broken"
    names = {name: f"broken_plug_in:{name}" for name in ("raises", "lacking", "failing")}
    names["gone"] = "no_such_module_anywhere:make"
    with installed(folder, monkeypatch, names, "broken-kinds"):
        (folder / "broken_plug_in.py").write_text(BROKEN)
        yield folder
    sys.modules.pop("broken_plug_in", None)


async def asked(stand: Stand, **fields: Any) -> tuple[str, str, int]:
    stand.answers(Script([Say("never")]))
    await stand.ask(**fields)
    return failure(await stand.until())


@each("kind", ["raises", "lacking", "gone"])
async def test_what_makes_no_endpoint_says_so(site: Path, kind: str) -> None:
    async with standing("plain-words") as stand:
        stand.kind = kind
        stand.knows()
        code, words, status = await asked(stand)
    assert (code, status) == ("endpoint_kind_broken", 501)
    assert words.startswith(f"The plug-in for the kind '{kind}' (broken-kinds) ")


async def test_a_kind_that_nobody_knows_is_answered_with_a_near_one(site: Path) -> None:
    for kind, near in (("openai-chatt", "did you mean 'openai-chat'?"), ("faling", "'failing'")):
        spec = EndpointSpec(kind, "http://127.0.0.1:9/v1")
        with pytest.raises(Refused, match="There is no kind of endpoint named") as refused:
            make(target("x", spec, ""), None)  # no upstream is needed to know it
        assert near in str(refused.value)
    spec = EndpointSpec("zzz", "http://127.0.0.1:9/v1")
    with pytest.raises(Refused, match="openai-responses, "):
        make(target("x", spec, ""), None)


async def test_two_packages_with_one_kind_are_told_apart_by_the_user(
    site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = {"failing": "another:make"}
    with installed(tmp_path / "other", monkeypatch, other, "other-kinds"):
        spec = EndpointSpec("failing", "http://127.0.0.1:9/v1")
        with pytest.raises(Refused, match=r"\(broken-kinds and other-kinds\): remove one"):
            make(target("x", spec, ""), None)
