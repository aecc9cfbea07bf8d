"""Keys in the keyring: stored without being shown, found by the bridge and by direct endpoints."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.cli.conftest import Memory
from tests.support.commands import Duetto, clean_environment, sentence
from tui.cli import endpoints
from tui.cli.keys import keys_command
from tui.cli.models import resolve
from tui.cli.options import ModelFlags
from tui.errors import EndpointError, UsageError
from tui.settings import Paths, parse

KEY = "gsk-correct-horse-battery"


@pytest.fixture
def paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Paths:
    monkeypatch.setenv("DUETTO_HOME", str(tmp_path))
    return Paths.find()


def run(*arguments: str, given: str = "") -> tuple[int, str]:
    ran = CliRunner().invoke(keys_command, arguments, input=given, standalone_mode=False)
    if ran.exception is not None:
        raise ran.exception
    return int(ran.return_value), ran.output


def test_a_key_is_stored_listed_by_name_and_deleted(ring: Memory, paths: Paths) -> None:
    assert run("set", "groq", given=f"{KEY}\n") == (
        0,
        "the key of groq is in the system's keyring\n",
    )
    assert ring.entries == {("duetto", "groq"): KEY}
    assert run("list") == (0, "groq\n")
    assert all(KEY not in file.read_text() for file in paths.state_dir.rglob("*") if file.is_file())
    assert run("delete", "groq") == (0, "the key of groq is gone\n")
    assert ring.entries == {}
    assert endpoints.names(paths.state_dir) == []
    assert run("delete", "groq")[0] == 1


@pytest.mark.parametrize(
    ("name", "given", "says"),
    [
        ("grok", KEY, "did you mean groq"),
        ("groq", "", "no key was given"),
        ("groq", "two words", "is not a key"),
        (KEY + KEY, KEY, "not the name of a provider"),
        ("gsk_abc123", KEY, "not the name of a provider"),
    ],
)
def test_what_is_no_name_or_no_key_is_said_and_never_repeated(
    ring: Memory, paths: Paths, name: str, given: str, says: str
) -> None:
    with pytest.raises(UsageError, match=says) as caught:
        run("set", name, given=given)
    assert ring.entries == {}
    assert KEY not in str(caught.value)
    assert "gsk_" not in str(caught.value)


def test_a_direct_endpoint_takes_it_when_it_is_dialled(ring: Memory, paths: Paths) -> None:
    run("set", "openai", given=KEY)
    flags = ModelFlags(endpoint="openai", fast="m")
    endpoint = resolve(parse("", "FILE"), flags, {}, paths).endpoints["openai"]
    assert not endpoint.bridged
    assert endpoint.in_keyring
    assert endpoint.address.headers == {}
    assert endpoint.keyed().headers == {"Authorization": f"Bearer {KEY}"}
    ring.entries.clear()
    with pytest.raises(EndpointError, match="duetto keys set openai"):
        endpoint.keyed()


def test_without_a_keyring_it_is_one_sentence(tmp_path: Path) -> None:
    given = {"PYTHON_KEYRING_BACKEND": "keyring.backends.fail.Keyring"}
    duetto = Duetto(tmp_path, clean_environment(tmp_path) | given)
    said = sentence(duetto.run("keys", "set", "groq", stdin=KEY.encode()), 2)
    assert "no keyring" in said
    assert KEY not in said
