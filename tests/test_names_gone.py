"""No text that a user reads names a model that its provider serves no more, or soon will not."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from tests.support.sources import ROOT
from tui.bridge.providers.provider_files import providers

DATA = ROOT / "tui" / "bridge" / "providers"
"""Where those names are known, and where nothing else reads them but the program."""
READ = ("*.md", "*.toml", "*.py", "*.txt", "*.tcss", "*.json", "*.jsonl", "*.svg")


def gone() -> dict[str, str]:
    """Name or pattern of each model that is gone or legacy -> its provider."""
    return {
        name: one.title
        for one in providers(None).values()
        for name, entry in one.models.items()
        if entry.state != "current"
    }


def expression(names: list[str]) -> re.Pattern[str]:
    """Finds the names, as they are or with blanks for hyphens, and never a part of a longer one."""
    spelt = [re.escape(name).replace(r"\*", r"[\w.-]*").replace(r"\-", "[- ]") for name in names]
    return re.compile(rf"(?<![\w.-])(?:{'|'.join(spelt)}|codex[- ]spark)(?![\w-]|\.\d)", re.I)


def texts() -> Iterator[Path]:
    yield from (ROOT / "README.md", ROOT / "CHANGELOG.md")
    for folder in ("docs", "themes", "tui"):
        for kind in READ:
            yield from (file for file in (ROOT / folder).rglob(kind) if DATA not in file.parents)


def test_no_text_names_a_model_that_is_gone() -> None:
    names = gone()
    assert "grok-code-fast-1" in names
    assert "claude-opus-5" in names
    found = expression([*names])
    files = list(texts())
    assert len(files) > 300
    stems = {re.split(r"\W", name)[0] for name in names} | {"codex"}
    told = []
    for file in files:
        text = file.read_text("utf-8", "replace")
        if any(stem in text.lower() for stem in stems):  # else the search finds nothing, slowly
            told += [f"{file.relative_to(ROOT)}: {match[0]}" for match in found.finditer(text)]
    assert told == []


def test_a_name_is_found_as_it_is_written_and_not_within_another() -> None:
    found = expression([*gone()])
    for text in (
        "deepseek-chat",
        "`openrouter/claude-opus-5`",
        "Grok Code Fast 1",
        "Codex-Spark",
        "zai-glm-9",
    ):
        assert found.search(text), text
    for text in ("claude-opus-5-5", "claude-opus-5.5", "gemini-3-flashy", "deepseek-flash"):
        assert not found.search(text), text
