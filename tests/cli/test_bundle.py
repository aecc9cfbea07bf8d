"""``duetto doctor --bundle``: what helps goes in, what is nobody's business does not."""

from __future__ import annotations

import json
import os
import stat
import zipfile
from pathlib import Path

import pytest
from click.testing import CliRunner

from tui.cli.bundle import GONE, cleaned, without_home
from tui.cli.doctor import doctor_command
from tui.cli.main import run
from tui.core.wire.masking import Mask

SECRETS = ["hunter22222", "zzz-query", "plain words as a key", "s3cr3t-header", "abcdefgh-option"]
SECRETS += ["99887766", "no-name-of-a-key", "PLAIN_AS_A_KEY", "of-house-llm", "b64b64b64="]
CONFIG = """\
schema = 1
# the key is plain words as a key
[endpoints.main]
url = "https://bob:hunter22222@host.example/v1?api-key=zzz-query"
key_env = "plain words as a key"
api_key = "plain words as a key"
headers = { "X-Team" = "s3cr3t-header" }
options = { note = "s3cr3t-header" }
password = 99887766
[endpoints.house]
url = "https://llm.example/v1"
key_env = "LLM_AUTH"
[keys.global]
review = "99887766 is a key"
name = "PLAIN_AS_A_KEY"
verify = ["Ctrl+B", "leader x"]
[meter]
line = "no-name-of-a-key {rate} [{cost}]"
[prompt]
editor = "DB=hunter22222 vim --secret abcdefgh-option"
[models.fast]
name = "claude-opus-4-20250514"
endpoint = "main"
[verify]
command = ["pytest", "--token", "abcdefgh-option", "-u", "bob:hunter22222", "-ps3cr3t-header"]
[format]
command = "curl -H 'Authorization: Basic b64b64b64=' https://bob:hunter22222@h/"
"""


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DUETTO_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("GROQ_API_KEY", "a-key-of-no-known-shape")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("LLM_AUTH", "of-house-llm")
    monkeypatch.setenv("NPM_AUTH", "of-the-registry")
    monkeypatch.setenv("DB_PASS", "of-the-database")
    monkeypatch.setenv("DATABASE_URL", "postgres://bob:of-the-url@db.example/x")
    monkeypatch.setenv("GIT_AUTHOR_NAME", "it broke with")
    (tmp_path / "home" / "state").mkdir(parents=True)
    (tmp_path / "ws").mkdir()
    monkeypatch.chdir(tmp_path / "ws")
    return tmp_path / "home"


def parts(file: Path) -> dict[str, str]:
    with zipfile.ZipFile(file) as bundle:
        return {name: bundle.read(name).decode() for name in bundle.namelist()}


def test_a_bundle_tells_what_helps_and_no_secret(home: Path) -> None:
    (home / "config.toml").write_text(CONFIG)
    told = "bob:hunter22222 zzz-query s3cr3t-header abcdefgh-option"
    told += " of-the-registry of-the-database of-the-url"
    log = f"ERROR {told}\n"
    log += f"ERROR it broke with a-key-of-no-known-shape in {home.parent}/ws; of-house-llm\n"
    (home / "state" / "duetto.log").write_text(log)
    assert run(["doctor", "--bundle", "report.zip"]) == 0
    file = Path("report.zip")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    found = parts(file)
    everything = "".join(found.values())
    assert [secret for secret in [*SECRETS, "a-key-of-no"] if secret in everything] == []
    assert "of-the-" not in everything
    assert str(home.parent) not in everything
    assert "it broke with [key]" in found["duetto.log"]
    settings = json.loads(found["settings.json"])["user"]
    assert settings["models"]["fast"]["name"] == "claude-opus-4-20250514"
    assert settings["endpoints"]["main"]["url"] == "https://(user)@host.example/v1?…"
    assert settings["endpoints"]["main"]["api_key"] == GONE
    assert settings["verify"]["command"] == f"pytest and 5 words {GONE}"
    assert settings["prompt"]["editor"] == f"{GONE} and 3 words {GONE}"
    assert settings["keys"]["global"] == {
        "review": GONE,
        "name": GONE,
        "verify": ["Ctrl+B", "leader x"],
    }
    assert settings["meter"]["line"] == "{rate} [ {cost} ]"
    checks = {row["check"]: row for row in json.loads(found["doctor.json"])}
    assert "line 6" in checks["configuration"]["text"]
    assert "textual" in json.loads(found["versions.json"])["packages"]
    assert json.loads(found["terminal.json"])["stdin is a terminal"] is False


def test_without_a_name_it_gets_one_of_its_time(home: Path) -> None:
    assert run(["doctor", "--bundle"]) == 0
    (file,) = Path.cwd().glob("duetto-bundle-*.zip")
    assert "README.txt" in parts(file)


def test_settings_that_are_no_toml_show_their_names_only(home: Path) -> None:
    (home / "config.toml").write_text('[endpoints.main]\napi_key = "oops, unclosed\nword\n')
    assert run(["doctor", "--bundle", "report.zip"]) == 0
    lines = json.loads(parts(Path("report.zip"))["settings.json"])["user"]
    assert lines == ["[endpoints.main]", "api_key = [key]", GONE]  # the log's mask goes over it
    assert json.loads(parts(Path("report.zip"))["doctor.json"])


def test_a_number_that_python_does_not_read_is_no_toml_either() -> None:
    lines = cleaned(f"[rehearsal]\nseed = {'1' * 5000}\n", Mask())
    assert lines == ["[rehearsal]", f"seed = {GONE}"]


@pytest.mark.parametrize(
    ("name", "words"),
    [("there.zip", "is there already"), ("no/such/place.zip", "No such file or directory")],
)
def test_no_file_is_overwritten_or_half_written(home: Path, name: str, words: str) -> None:
    Path("there.zip").write_text("mine")
    ran = CliRunner().invoke(doctor_command, ["--bundle", name])
    assert words in str(ran.exception)
    assert os.listdir() == ["there.zip"]
    assert Path("there.zip").read_text() == "mine"


@pytest.mark.parametrize("value", ['"nobody"', '["nobody"]', '{ name = "nobody" }'])
def test_a_text_under_a_name_that_no_table_has_is_not_shown(value: str) -> None:
    shown = cleaned(f"surely_unknown = {value}", Mask())
    assert "nobody" not in json.dumps(shown)


def test_the_home_folder_is_not_named() -> None:
    assert without_home("/home/ann/x /home/anna /home/ann", "/home/ann") == "~/x /home/anna ~"
