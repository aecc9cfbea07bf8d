"""README and docs say what is so."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

from tests import check
from tests.readme import ALL_KEYS, README, shell_block, with_keys
from tests.support.sources import ROOT
from tests.support.tables import case
from tui import settings
from tui.cli.main import COMMANDS
from tui.ui.keys.remapping import remapped
from tui.ui.keys.table import SHIPPED
from tui.ui.theme import theme_names

TEXT = README.read_text()
DOCS = [README, *sorted((ROOT / "docs").glob("*.md"))]


def test_it_is_short() -> None:
    assert len(TEXT.splitlines()) <= 150


def test_the_keys_are_those_of_the_keymap() -> None:
    assert with_keys(TEXT) == TEXT, "run: python -m tests.readme"


def test_all_keys_are_in_the_docs_and_the_examples_there_hold() -> None:
    text = ALL_KEYS.read_text()
    assert with_keys(text) == text, "run: python -m tests.readme"
    for file in (ALL_KEYS, ROOT / "docs" / "settings.md"):
        for block in re.findall(r"```toml\n(.*?)```", file.read_text(), re.S):
            keys = settings.parse(block, file.name).keys
            assert remapped(SHIPPED, keys)[1] == [], file.name


def test_ci_runs_the_readmes_test_command(tmp_path: Path) -> None:
    """`.ci/run` itself, on a copy in which the commands are ones that tell on themselves."""
    command = shell_block(TEXT, "the tests")
    (tmp_path / ".ci").mkdir()
    (tmp_path / ".ci/run").write_bytes((ROOT / ".ci/run").read_bytes())
    telling = "mkdir -p .venv/bin && ln -s /bin/echo .venv/bin/python && echo 'I am' the command"
    (tmp_path / "README.md").write_text(TEXT.replace(command, telling))
    ran = subprocess.run(
        ["sh", str(tmp_path / ".ci/run")], capture_output=True, text=True, timeout=60, check=False
    )
    assert ran.stdout.splitlines()[-2:] == ["I am the command", "-m tests.check --slow"], ran.stderr
    assert ran.returncode == 0
    assert command.startswith("python3 -m venv .venv && ")


def test_pytest_keeps_its_bytecode_where_the_checks_look_for_it(tmp_path: Path) -> None:
    """Else they would have it made anew each time, before the tests begin."""
    (tmp_path / "test_one.py").write_text("def test_one():\n    assert True\n")
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    collect = [sys.executable, "-m", "pytest", "--collect-only", "-p", "no:cacheprovider"]
    subprocess.run(collect, cwd=tmp_path, env=kept, stdout=subprocess.DEVNULL, check=True)
    assert not check.is_new(tmp_path / "test_one.py")


def test_every_command_is_explained() -> None:
    text = (ROOT / "docs" / "commands.md").read_text()
    missing = [name for name in COMMANDS if name != "open" and f"`duetto {name}" not in text]
    assert missing == []


def test_the_settings_shown_are_settings() -> None:
    for file in DOCS:
        with case(file):
            for block in re.findall(r"```toml\n(.*?)```", file.read_text(), re.S):
                assert tomllib.loads(block)["schema"] == settings.SCHEMA
                settings.parse(block, file.name)


def test_the_themes_named_are_the_themes() -> None:
    settings_text = (ROOT / "docs" / "settings.md").read_text()
    line = next(line for line in settings_text.splitlines() if line.startswith("theme_dark = "))
    known, table = set(theme_names()), (ROOT / "docs" / "themes.md").read_text()
    rows = [row for row in table.splitlines() if row.startswith("| `")]
    listed = {name for row in rows for name in re.findall(r"`([\w-]+)`", row.split("|")[1])}
    assert listed - {"auto"} == known
    assert line.split('"')[1] in known


def test_links_lead_somewhere() -> None:
    for file in DOCS:
        with case(file):
            targets = re.findall(r"\]\((?!https?:|#)([^)#]+)", file.read_text())
            assert [target for target in targets if not (file.parent / target).exists()] == []
