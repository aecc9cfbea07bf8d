"""The recipes of docs/endpoints.md, word by word, against a server that checks what comes."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

import pytest

from tests.support.commands import DUETTO, clean_environment
from tests.support.nasty_server import Nasty, nasty
from tests.support.server_words import spoken, turn

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
