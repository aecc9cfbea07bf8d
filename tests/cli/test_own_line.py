"""The status line of config.toml: its mistakes are named by file and line, the rest is shown."""

from __future__ import annotations

from pathlib import Path

import pytest

from tui.cli.appearance import line_complaints
from tui.cli.doctor_checks import own_line_findings
from tui.errors import SettingsError
from tui.settings import load, load_project


def written(tmp_path: Path, text: str) -> Path:
    file = tmp_path / "config.toml"
    file.write_text(text)
    return file


def test_a_mistake_is_named_by_file_and_line(tmp_path: Path) -> None:
    file = written(tmp_path, '[editor]\nwrap = true\n\n[meter]\nline = "{ratee} {tokens}"\n')
    (told,) = line_complaints(load(file), file)
    assert told == f"{file} line 5: meter.line: there is no field {{ratee}}; did you mean {{rate}}?"
    assert [(one.check, one.state) for one in own_line_findings(load(file), file)] == [
        ("status line", "fix")
    ]


def test_in_a_text_of_several_lines_the_line_is_counted(tmp_path: Path) -> None:
    file = written(tmp_path, '[meter]\nline = """\n{rate}\n{nope}\n"""\n')
    (told,) = line_complaints(load(file), file)
    assert f"{file} line 4: " in told


def test_what_is_no_text_is_told_and_nothing_else_is_lost(tmp_path: Path) -> None:
    file = written(tmp_path, '[meter]\nline = 3\ngutter_ghost = "turn"\n')
    settings = load(file)
    assert settings.meter.gutter_ghost == "turn"
    assert "line 2: meter.line: is not text" in line_complaints(settings, file)[0]


def test_a_line_without_a_mistake_is_not_spoken_of_at_the_start(tmp_path: Path) -> None:
    file = written(tmp_path, '[meter]\nline = "{rate}"\n')
    assert line_complaints(load(file), file) == []
    assert [one.state for one in own_line_findings(load(file), file)] == ["ok"]
    assert list(own_line_findings(load(written(tmp_path, "")), file)) == []


def test_a_cloned_repository_has_no_say_in_it(tmp_path: Path) -> None:
    """Its own words beside a verdict would be taken for ours."""
    folder = tmp_path / ".duetto"
    folder.mkdir()
    (folder / "config.toml").write_text('[meter]\nline = "tests passed"\n')
    with pytest.raises(SettingsError, match="meter"):
        load_project(tmp_path)
