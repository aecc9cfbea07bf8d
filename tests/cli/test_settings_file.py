"""Changing the models in a hand-written settings file keeps its comments and order."""

from __future__ import annotations

import os
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.tables import case
from tui.cli.settings_file import Placed, SettingsChange, changed, keep_value, plain, write
from tui.errors import SettingsError
from tui.settings import parse

BOTH = SettingsChange({"fast": Placed("tiny", "groq"), "deep": Placed("large", "anthropic")})

MINE = """\
# my settings
schema = 1

[models.deep]   # the one that thinks
endpoint = "openai"       # at work
name = "old-deep"   # since May
effort = "high"
price = { input = 1.0, output = 2.0 }

[keys.global]
verify = "ctrl+b"  # F5 is the desktop's

[models.fast]
name = 'old-fast'
# slow in the evening
endpoint = "groq"
context_window = 8000

[editor]
theme = "paper"
"""


def test_comments_and_order_stay_and_what_was_the_old_models_is_commented_out() -> None:
    assert changed(MINE, BOTH, "FILE") == MINE.replace(
        'endpoint = "openai"       # at work', 'endpoint = "anthropic"       # at work'
    ).replace('"old-deep"', '"large"').replace("'old-fast'", '"tiny"').replace(
        "price =", "# price ="
    ).replace("context_window", "# context_window")


def test_every_way_to_write_a_table_is_changed_or_left_alone() -> None:
    for text in (
        "",
        "# nothing yet",
        "schema = 1\n[models]\nfast.name = 'a'\nfast.endpoint = 'groq'\nfast.effort = 'low'\n",
        "models.fast.name = 'a'\nmodels.fast.endpoint = 'groq'\n[editor]\nwrap = true\n",
        "[models]\nfast = { name = 'a', endpoint = 'groq', tier = 'flex', effort = 'low' }\n",
        '[models.fast]\nname = """\na"""\nendpoint = "groq"\n[models.fast.price]\ninput = 1\n'
        "output = 2\n[editor]\nwrap = true",
        '["models"."fast"]\n"name" = "a"\r\nendpoint = "groq"\r\n',
        "[models.fast]\nname = 'a' # here\n[endpoints.one]\nurl = 'http://127.0.0.1:1/v1'\n",
        "[models.fast]\nname = 'a'\nendpoint = 'groq'\nfallbacks = [\n 'groq/b', # b\n]\n",
    ):
        with case(text):
            new = changed(text, BOTH, "FILE")
            models = parse(new, "FILE").models
            assert models.fast is not None
            assert models.deep is not None
            assert (models.fast.name, models.fast.endpoint) == ("tiny", "groq")
            assert (models.deep.name, models.deep.endpoint) == ("large", "anthropic")
            assert models.fast.price is None
            before = tomllib.loads(text)
            for name in before.keys() - {"models", "schema"}:
                assert tomllib.loads(new)[name] == before[name]
            assert changed(new, BOTH, "FILE") == new, "a second time changes nothing"


def test_what_cannot_be_changed_safely_is_said_and_can_be_written_by_hand() -> None:
    text = "models = { fast = { name = 'a', endpoint = 'groq' }, deep = { name = 'b' } }\n"
    with pytest.raises(SettingsError, match="table of its own"):
        changed(text, BOTH, "FILE")
    assert parse(plain(BOTH), "FILE").models.fast is not None


def test_a_server_of_its_own_gets_a_table() -> None:
    table = {"url": "https://gw.example/v1", "key_env": "GW_API_KEY"}
    change = SettingsChange({"fast": Placed("m", "gw")}, {"gw": table})
    settings = parse(changed(MINE, change, "FILE"), "FILE")
    assert settings.endpoints["gw"].url == "https://gw.example/v1"
    assert settings.endpoints["gw"].key_env == "GW_API_KEY"
    assert settings.models.deep is not None
    assert settings.models.deep.name == "old-deep"


@given(st.text(min_size=1).filter(str.isprintable), st.sampled_from([MINE, "", "[models]\n"]))
def test_any_name_that_a_server_may_give_reads_back(name: str, text: str) -> None:
    change = SettingsChange({"fast": Placed(name, "groq")})
    found = parse(changed(text, change, "FILE"), "FILE").models.fast
    assert found is not None
    assert found.name == name


def test_it_is_written_in_one_step_through_links_and_with_its_mode(tmp_path: Path) -> None:
    dotfiles, config = tmp_path / "dotfiles" / "duetto.toml", tmp_path / "config.toml"
    dotfiles.parent.mkdir()
    dotfiles.write_text(MINE)
    dotfiles.chmod(0o640)
    config.symlink_to(dotfiles)
    write(config, MINE, changed(MINE, BOTH, "FILE"))
    assert config.is_symlink()
    assert dotfiles.stat().st_mode & 0o777 == 0o640
    assert '"tiny"' in dotfiles.read_text()
    assert os.listdir(dotfiles.parent) == ["duetto.toml"]
    with pytest.raises(SettingsError, match="changed meanwhile"):
        write(config, MINE, "")
    fresh = tmp_path / "new" / "config.toml"
    write(fresh, None, "schema = 1\n")
    assert fresh.stat().st_mode & 0o777 == 0o600


def test_a_full_disk_leaves_the_old_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = tmp_path / "config.toml"
    config.write_text(MINE)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(SettingsError, match="No space left"):
        write(config, MINE, "schema = 1\n")
    assert config.read_text() == MINE
    assert os.listdir(tmp_path) == ["config.toml"]


def test_one_thing_is_said_and_all_else_stays(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    keep_value(file, "stats", "ask", value=True)
    assert parse(file.read_text(), "FILE").stats.ask is True
    keep_value(file, "stats", "ask", value=False)
    assert parse(file.read_text(), "FILE").stats.ask is False
    file.write_text(MINE + "[stats]  # mine\nask = true  # once a day\n")
    keep_value(file, "stats", "ask", value=False)
    assert file.read_text() == MINE + "[stats]  # mine\nask = false  # once a day\n"
    file.write_text("schema = 1\nstats = { ask = true }\n")
    keep_value(file, "stats", "ask", value=False)
    assert parse(file.read_text(), "FILE").stats.ask is False
    file.write_text("schema = 1\nstats = {}\n")
    with pytest.raises(SettingsError, match="cannot be changed safely"):
        keep_value(file, "stats", "ask", value=True)
    file.write_text("schema = [\n")
    with pytest.raises(SettingsError):
        keep_value(file, "stats", "ask", value=True)
    assert file.read_text() == "schema = [\n"
