"""docs/connect.md: a section for each provider, whose settings are taken as they are written."""

from __future__ import annotations

import re
from pathlib import Path

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
