"""``[keys]`` of the settings on its way to the keymap: what is wrong has a file and a line."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.tables import case
from tui.cli.appearance import StartTheme, line_complaints, start_theme, use_keys
from tui.cli.doctor_checks import own_key_findings, own_line_findings, own_theme_findings
from tui.settings import (
    EditorSettings,
    Paths,
    ProjectEditorSettings,
    ProjectSettings,
    load,
    parse,
)
from tui.ui import keymap, theme

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
    assert promt.startswith(f"{file} line 5: keys.promt: is not a place for keys; did you mean")
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


@pytest.fixture(autouse=True)
def _no_folder_stays() -> Iterator[None]:
    yield
    theme.library.own_folder(None)


@pytest.fixture
def paths(tmp_path: Path) -> Paths:
    paths = Paths(tmp_path / "config.toml", tmp_path / "data", tmp_path / "state")
    paths.themes_dir.mkdir()
    return paths


def dress(paths: Paths, project: str | None = None, **editor: str) -> StartTheme:
    lines = "".join(f'{key} = "{value}"\n' for key, value in editor.items())
    paths.config_file.write_text(f"[editor]\n{lines}")
    asked = ProjectSettings(editor=ProjectEditorSettings(theme=project))
    root = paths.data_dir / "repo"
    return start_theme(EditorSettings(**editor), asked, root, paths, paths.config_file)


def test_without_a_setting_the_theme_follows_the_terminal(paths: Paths) -> None:
    found = dress(paths)
    assert found.choice == "auto"
    assert [found.name(dark) for dark in (None, True, False)] == ["dusk", "dusk", "paper"]
    assert found.troubles == ()


def test_the_pair_can_be_chosen(paths: Paths) -> None:
    found = dress(paths, theme="auto", theme_light="solarized-light", theme_dark="nord")
    assert [found.name(dark) for dark in (True, False)] == ["nord", "solarized-light"]


def test_a_named_theme_does_not_follow(paths: Paths) -> None:
    assert dress(paths, theme="ember").name(False) == "ember"


def test_what_a_repository_asks_for_in_vain_is_only_told(paths: Paths) -> None:
    found = dress(paths, "neon", theme="ember")
    assert found.choice == "ember"
    (trouble,) = found.troubles
    assert trouble.severity == "warning"
    assert "'neon'" in trouble.why
    assert ".duetto/config.toml" in trouble.why
    assert dress(paths, "paper", theme="ember").choice == "paper"


def test_an_unknown_theme_of_ones_own_is_told_with_its_line_and_the_nearest(paths: Paths) -> None:
    """It was an error that kept duetto from opening; a deleted theme file is no reason for that."""
    found = dress(paths, theme="embr")
    assert found.choice == "auto"
    (trouble,) = found.troubles
    assert f"{paths.config_file} line 2" in trouble.why
    assert "did you mean 'ember'" in trouble.why
    found = dress(paths, theme_light="papr")
    assert found.name(False) == "paper"
    assert "line 2" in found.troubles[0].why


def test_mistakes_in_the_users_file_are_told_and_the_rest_is_worn(paths: Paths) -> None:
    (paths.themes_dir / "mine.toml").write_text('base = "nord"\n[palette]\naccent = "rde"\n')
    found = dress(paths, theme="mine")
    assert found.choice == "mine"
    (trouble,) = found.troubles
    assert "mine.toml line 3: accent must look like #a1b2c3, not 'rde'" in trouble.why
    assert "duetto theme check mine" in trouble.next_step


def test_a_choice_is_kept_and_the_settings_file_is_not_written(paths: Paths) -> None:
    before = dress(paths, theme="ember")
    text = paths.config_file.read_text()
    before.keep("nord")
    assert paths.config_file.read_text() == text
    assert dress(paths, theme="ember").choice == "nord"
    assert paths.state_dir.stat().st_mode & 0o777 == 0o700


def test_who_writes_another_theme_into_the_settings_decides_anew(paths: Paths) -> None:
    dress(paths, theme="ember").keep("nord")
    assert dress(paths, theme="paper").choice == "paper"
    dress(paths, theme="paper").keep("paper")
    assert dress(paths, theme="paper").choice == "paper"


def test_a_choice_in_a_workspace_with_a_theme_of_its_own_holds_there(paths: Paths) -> None:
    dress(paths, theme="ember").keep("nord")
    assert dress(paths, "paper", theme="ember").choice == "paper"
    dress(paths, "paper", theme="ember").keep("gruvbox-dark")
    assert dress(paths, "paper", theme="ember").choice == "gruvbox-dark"
    assert dress(paths, theme="ember").choice == "nord"


def test_a_broken_record_of_the_choice_is_none(paths: Paths) -> None:
    for text in ("", "[", "[]", '{"": 3}', '{"": ["ember", 4]}', "\xff" * 9):
        with case(text):
            paths.make_state_dir()
            (paths.state_dir / "theme.json").write_text(text)
            found = dress(paths, theme="ember")
            assert found.choice == "ember"
            found.keep("nord")
            assert dress(paths, theme="ember").choice == "nord"


def test_a_chosen_theme_that_is_gone_is_not_asked_for(paths: Paths) -> None:
    (paths.themes_dir / "mine.toml").write_text('base = "nord"\n')
    dress(paths, theme="ember").keep("mine")
    assert dress(paths, theme="ember").choice == "mine"
    (paths.themes_dir / "mine.toml").unlink()
    assert dress(paths, theme="ember").choice == "ember"


def findings(paths: Paths, text: str = "") -> list[tuple[str, str]]:
    paths.config_file.write_text(text)
    settings = parse(text, str(paths.config_file))
    found = own_theme_findings(settings, paths.data_dir, paths, paths.config_file)
    return [(finding.state, finding.text) for finding in found]


def test_the_doctor_lists_every_mistake_of_every_file(paths: Paths) -> None:
    (paths.themes_dir / "mine.toml").write_text('base = "nord"\n[palette]\nfats = "#fff"\n')
    (paths.themes_dir / "other.toml").write_text("[hunk\n")
    (paths.themes_dir / "my theme.toml").write_text("")
    found = findings(paths, '[editor]\ntheme_dark = "duks"\n')
    words = "\n".join(text for _, text in found)
    assert "line 2 asks for the theme 'duks', which is not there; did you mean 'dusk'?" in words
    assert "mine.toml line 3: [palette] has no colour 'fats'" in words
    assert "other.toml line 1: not valid TOML" in words
    assert "my theme.toml is not used" in words
    assert [state for state, _ in found].count("note") == 1
