"""docs/connect.md: a section for each provider, whose settings are taken as they are written."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

import pytest

from tests.support.commands import DUETTO, clean_environment
from tests.support.nasty_server import Nasty, nasty
from tests.support.server_words import spoken, turn
from tests.support.sources import ROOT
from tests.support.tables import case
from tui.bridge.providers import provider_files
from tui.cli.models import resolve
from tui.cli.options import ModelFlags
from tui.settings import Paths, parse

TEXT = (ROOT / "docs" / "connect.md").read_text(encoding="utf-8")
SECTIONS = dict(re.findall(r"^## ([^\n]+)\n(.*?)(?=^## |\Z)", TEXT, re.DOTALL | re.MULTILINE))
NAMES = [name for name in provider_files.names(None) if name != "rehearsal"]


def section(name: str) -> str:
    return SECTIONS[provider_files.provider(name, None).title]


def test_each_provider_has_a_section_that_names_its_key() -> None:
    for name in NAMES:
        with case(name):
            known = provider_files.provider(name, None)
            if known.key_env:
                assert known.key_env in section(name)


def test_its_settings_lead_to_that_provider(tmp_path: Path) -> None:
    for name in NAMES:
        with case(name):
            (text,) = re.findall(r"```toml\n(.*?)```", section(name), re.DOTALL)
            settings = parse(text, "connect.md")
            known = provider_files.provider(name, None)
            environment = {
                known.key_env: "a-key",
                "AZURE_OPENAI_ENDPOINT": "https://x.openai.azure.com",
            }
            paths = Paths.find({"DUETTO_HOME": str(tmp_path)})
            models = resolve(settings, ModelFlags(), environment, paths)
            assert {spec.endpoint for spec in models.roles.values()} == {name}
            assert not models.rehearsal


pytestmark = pytest.mark.slow

DOCS = Path(__file__).parents[2] / "docs" / "endpoints.md"
RECIPES = dict(
    re.findall(r"^## ([^\n]+)\n.*?```toml\n(.*?)```", DOCS.read_text(), re.DOTALL | re.MULTILINE)
)
KEY = "correct-horse-battery"


@pytest.mark.parametrize(
    ("section", "variable", "path", "headers"),
    [
        ("OpenAI", "OPENAI_API_KEY", "/v1/responses", {"Authorization": f"Bearer {KEY}"}),
        (
            "Azure",
            "AZURE_OPENAI_API_KEY",
            "/openai/v1/responses?api-version=preview",
            {"api-key": KEY, "Authorization": None},
        ),
        (
            "LiteLLM and other gateways",
            "LITELLM_KEY",
            "/v1/responses",
            {"Authorization": f"Bearer {KEY}", "X-Team": "blue"},
        ),
    ],
)
async def test_a_recipe_works_as_it_is_written(
    tmp_path: Path, section: str, variable: str, path: str, headers: dict[str, str | None]
) -> None:
    server = Nasty([turn(1, *spoken("hello there"))])
    async with nasty(server) as url:
        here = url.split("/v1")[0]
        config, count = re.subn(r'"wss?://[^/"]+', f'"{here}', RECIPES[section])
        assert count == 1
        (tmp_path / "config.toml").write_text(config)
        process = await asyncio.create_subprocess_exec(
            *DUETTO, "exec", "hi", "-C", str(tmp_path),
            "--config", str(tmp_path / "config.toml"),
            env=clean_environment(tmp_path / "home") | {variable: KEY},
            stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
        )  # fmt: skip
        async with asyncio.timeout(60):
            out, err = await process.communicate()
    assert (process.returncode, out, err) == (0, b"hello there\n", b"")
    assert server.paths == [path]
    sent = server.headers[0]
    assert {name: sent.get(name) for name in headers} == headers
