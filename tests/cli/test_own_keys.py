"""``[keys]`` of the settings on its way to the keymap: what is wrong has a file and a line."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tui.cli.appearance import use_keys
from tui.cli.doctor_checks import own_key_findings
from tui.settings import load
from tui.ui import keymap

TEXT = """\
[keys.global]
verify = "Ctrl+B"
effort = "Ctrl+S"

[keys.promt]
send = "x"
[keys.prompt]
steer = ["Ctrl+Foo"]
"""


@pytest.fixture(autouse=True)
def as_shipped() -> Iterator[None]:
    """Every test begins and ends with duetto's own keys."""
    yield
    keymap.use({})


def test_each_complaint_has_file_line_and_reason_and_the_rest_holds(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text(TEXT)
    promt, effort, steer = use_keys(load(file), file)
    assert promt.startswith(f"{file} line 5: keys.promt: is no place for keys; did you mean")
    assert effort.startswith(f'{file} line 3: keys.global.effort: Ctrl+S is the key of "save"')
    assert steer.startswith(f'{file} line 8: keys.prompt.steer: "Ctrl+Foo" names no key')
    assert keymap.shown("verify") == "Ctrl+B"
    assert keymap.shown("effort") == "F3"


def test_the_doctor_lists_them_all(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text("[keys]\n" + "\n".join(f'none{n} = "x"' for n in range(9)))
    found = list(own_key_findings(load(file), file))
    assert [finding.state for finding in found] == ["fix"] * 9


def test_keys_of_some_terminals_only_are_noted(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text('[keys]\nverify = "Ctrl+Shift+T"\neffort = ["Ctrl+Shift+E", "F3"]\n')
    said, noted = own_key_findings(load(file), file)
    assert said.text == "2 actions have keys of your own"
    assert noted.text == "Ctrl+Shift+T (verify) comes only from terminals with the Kitty protocol"


def test_no_keys_no_words(tmp_path: Path) -> None:
    settings = load(tmp_path / "config.toml")
    assert use_keys(settings, tmp_path / "config.toml") == []
    assert list(own_key_findings(settings, tmp_path / "config.toml")) == []
