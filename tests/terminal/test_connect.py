"""Connecting a provider in the real program, on the screen, in lines, and without asking."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.stand_in import KEY, MEASURED, StandIn
from tests.support.terminal import Terminal
from tests.terminal.conftest import Piped, choose_models
from tui.settings import load

WRONG = "sk-wrong-key-of-somebody"


@pytest.fixture
def environment(environment: dict[str, str], tmp_path: Path) -> dict[str, str]:
    """A keyring that a test can look into, and no keys."""
    kept = {name: value for name, value in environment.items() if not name.endswith("_API_KEY")}
    return kept | {
        "PYTHON_KEYRING_BACKEND": "tests.support.file_keyring.FileKeyring",
        "TEST_KEYRING": str(tmp_path / "ring.json"),
    }


def ring(tmp_path: Path) -> dict[str, str]:
    file = tmp_path / "ring.json"
    return dict(json.loads(file.read_text())) if file.exists() else {}


def shown_nowhere(term: Terminal | None, tmp_path: Path, *keys: str) -> None:
    """Neither on the screen nor in a file of duetto's own."""
    for key in keys:
        assert term is None or key not in term.output.decode("utf-8", "replace")
        for file in (tmp_path / "home").rglob("*"):
            assert not file.is_file() or key.encode() not in file.read_bytes(), file


def test_a_pasted_key_then_models_a_test_and_the_lines(
    start: Callable[..., Terminal], tmp_path: Path, provider: StandIn
) -> None:
    config = tmp_path / "home" / "config.toml"
    mine = '# mine\nschema = 1\n\n[editor]   # looks\ntheme = "paper"\n'
    config.write_text(mine)
    record = tmp_path / "home" / "record.jsonl"
    term = start("practice", "--record", record, size=(80, 24))
    term.wait_for("send")
    term.type("/connect mein\r")
    term.wait_for("Did you mean mine")
    term.type("\x1b")
    term.wait_for("send")
    term.type("/connect\r")
    term.wait_for("▸ Anthropic")
    term.type("mine\r")
    term.wait_for("The key for Mine")
    term.paste(WRONG)
    term.wait_for(f"{len(WRONG)} characters")
    term.type("\r")
    term.wait_for("refused this key")
    term.paste(KEY)
    term.wait_for(f"{len(KEY)} characters")
    term.type("\r")
    term.wait_for("The fast model")
    term.type("\x1b")
    term.wait_for("The key for Mine")
    term.paste(KEY)
    term.type("\r")
    choose_models(term)
    while "too short to tell" in term.wait_for(lambda text: len(MEASURED.findall(text)) == 2):
        term.type("t")  # a busy machine read all of an answer at once
        term.wait_for(lambda text: len(MEASURED.findall(text)) < 2)
    term.type("\r")
    term.wait_for("The key goes into the system's keyring")
    assert (config.read_text(), ring(tmp_path)) == (mine, {}), "nothing is kept before the end"
    term.type("\r")
    term.wait_for("deep is large-32b on mine from now on")
    assert ring(tmp_path) == {"duetto mine": KEY}
    assert config.read_text().startswith(mine)
    provider.asked.clear()
    term.type(f"repeat {KEY[:3]}\r")
    term.wait_for("37 38 39 40")
    assert provider.asked == ["tiny-8b"]
    term.type("/model\r")
    term.wait_for("answers now")
    assert all("tok/s" in row for row in term.lines if "mine/" in row), "the test measured both"
    assert "tok/s" in next(row for row in term.lines if "answers now" in row)
    term.type("large\r")
    term.wait_for("fast is large-32b on mine from now on")
    term.type("/model tinny\r")
    term.wait_for("Did you mean tiny-8b?")
    term.leave()
    shown_nowhere(term, tmp_path, KEY, WRONG)
    models = load(config).models
    assert models.fast is not None
    assert models.fast.name == "tiny-8b", "/model is for the session"


def test_in_the_linear_mode_with_the_same_questions(
    start: Callable[..., Terminal], tmp_path: Path, provider: StandIn
) -> None:
    term = start("practice", "--linear", size=(100, 50))
    term.wait_for("/quit leaves")
    term.type("/connect mein\r")
    term.wait_for("Did you mean mine")
    term.wait_for("Which provider?")
    term.type("\r")
    term.wait_for("Nothing was written")
    term.type("/connect mine\r")
    term.wait_for("Key:")
    term.type(f"{WRONG}\r")
    term.wait_for("refused this key")
    term.wait_for(lambda text: text.count("Key:") == 2)
    term.type(f"{KEY}\r")
    term.wait_for("The fast model?")
    term.type("1\r")
    term.wait_for("The deep model?")
    term.type("lar\r")
    term.wait_for("yes or no")
    assert ring(tmp_path) == {}
    term.type("yes\r")
    term.wait_for("Deep is large-32b on mine from now on")
    provider.asked.clear()
    term.type("count\r")
    term.wait_for("fast is done")
    assert provider.asked == ["tiny-8b"]
    term.type("/model\r")
    term.wait_for("mine/tiny-8b, 128k")
    term.type("/model nope\r")
    term.wait_for("No connected endpoint has nope")
    term.type("/quit\r")
    assert term.wait_exit() == 0
    assert ring(tmp_path) == {"duetto mine": KEY}
    shown_nowhere(term, tmp_path, KEY, WRONG)


def test_without_asking_with_exit_codes(piped: Piped, tmp_path: Path, provider: StandIn) -> None:
    def run(*arguments: str, given: str = "") -> tuple[int, str]:
        done = piped("connect", *arguments, given=given)
        said = done.stdout + done.stderr
        assert KEY not in said
        assert "Traceback" not in said
        return done.returncode, said

    config = tmp_path / "home" / "config.toml"
    both = ("--fast", "tiny-8b", "--deep", "large-32b")
    for arguments, given, code, says in (
        (("mine", *both), "", 2, "needs a key"),
        (("mein", *both), "", 2, "Did you mean mine"),
        (("mine", "--key-stdin", *both), "", 2, "no key was given"),
        (("mine", "--key-stdin", *both), WRONG, 3, "refused this key"),
        (("mine", "--key-stdin", "--fast", "tinny"), KEY, 1, "Did you mean tiny-8b"),
        (("http://127.0.0.1:9/v1", *both), "", 3, "cannot be reached"),
        (("mine", "--key-stdin", "--dry-run", *both), KEY, 0, "will say"),
    ):
        ended, said = run(*arguments, given=given)
        assert (ended, says in said) == (code, True), (arguments, said)
        assert not config.exists()
        assert ring(tmp_path) == {}
    code, said = run("mine", "--key-stdin", *both, given=KEY)
    assert code == 0
    assert len(MEASURED.findall(said)) == 2
    assert "Connected: fast is tiny-8b, deep is large-32b, on mine." in said
    assert ring(tmp_path) == {"duetto mine": KEY}
    assert run("mine", "--list") == (0, "tiny-8b\nlarge-32b\n")
    shown_nowhere(None, tmp_path, KEY, WRONG)


def test_questions_on_a_plain_terminal(
    environment: dict[str, str], tmp_path: Path, provider: StandIn
) -> None:
    command = [sys.executable, "-m", "tui.cli", "connect"]
    with Terminal(command, env=environment, cwd=tmp_path, size=(100, 50)) as term:
        term.wait_for("Which provider?")
        term.type("mine\r")
        term.wait_for("The key; it is not shown:")
        term.type(f"{KEY}\r")
        term.wait_for("The fast model?")
        term.type("\x03")
        assert term.wait_exit() == 130
        shown_nowhere(term, tmp_path, KEY)
    assert ring(tmp_path) == {}
    assert not (tmp_path / "home" / "config.toml").exists()
