"""Whatever is typed or piped in: one clear sentence, a stable exit code, nothing lost."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.support.commands import Duetto, Inside, clean_environment, sentence

LOCAL = "ws://127.0.0.1:9/v1/responses"
FAR = "wss://models.example/v1/responses"
PATCH = "*** Begin Patch\n*** Add File: new.txt\n+hi\n*** End Patch\n"


@pytest.fixture
def inside(tmp_path: Path) -> Inside:
    folder, home = tmp_path / "work", tmp_path / "home"
    folder.mkdir()
    home.mkdir()
    (folder / "a.py").write_text("hi\n")
    (folder / "p.patch").write_text(PATCH)
    return Inside(folder, clean_environment(home))


@pytest.fixture
def duetto(inside: Inside) -> Duetto:
    return Duetto(inside.folder, inside.environment)


WRONG: tuple[tuple[list[str], str], ...] = (
    (["exec", "hi", "there"], "unexpected extra argument (there)"),
    (["exec", "hi", "--role"], "'--role' requires an argument"),
    (["exec", "hi", "--role", ""], "'' is not one of 'fast', 'deep'"),
    (["exec", "hi", "--fast", ""], "--fast needs the name of a model"),
    (
        ["exec", "hi", "--fast", "a\nb", "--endpoint", LOCAL],
        "--fast: 'a\\nb' is not a model's name",
    ),
    (["exec", "hi", "--deep", "m", "--endpoint", LOCAL, "--role", "fast"], "no fast model"),
    (["exec", "hi", "--endpoint", "", "--fast", "m"], "--endpoint"),
    (["exec", "hi", "--endpoint", "wss://[::1", "--fast", "m"], "not a valid address"),
    (["exec", "hi", "--endpoint", "wss://me:pa/ss@h/", "--fast", "m"], "the address is not"),
    (["exec", "hi", "--endpoint", "wss://h:99999/", "--fast", "m"], "not a valid address"),
    (["exec", "hi", "--endpoint", "http://h/v1", "--fast", "m"], "key"),
    (["exec", "hi", "--config", "."], "is a directory"),
    (["exec", "hi", "--config", "/dev/zero"], "larger than 1 MB"),
    (["exec", "hi", "-C", ""], "-C needs a folder"),
    (["exec", "hi", "-C", "a.py"], "-C a.py is not a folder"),
    (["exec", "hi", "-C", "~no-such-user/x"], "no such file or folder"),
    (["exec", ""], "the prompt is empty"),
    (["exec", " \n "], "the prompt is empty"),
    (["exec", "-"], "the prompt is empty"),
    (["apply", ""], "names no file"),
    (["apply", "."], "is a directory"),
    (["apply", "/dev/zero"], "more than 64 MB"),
    (["apply", "--chunk", "-1", "p.patch"], "-1 is not in the range"),
    (["apply", "--root", "", "p.patch"], "--root"),
    (["bridge", "--port", "70000"], "70000 is not in the range"),
    (["bridge", "--port", "-1"], "-1 is not in the range"),
    (["bridge", "extra"], "no such command 'extra'"),
    (["bridge", "--fast-rate", "nan"], "nan"),
    (["bridge", "--deep-rate", "inf"], "inf is not in the range"),
    (["bridge", "--mistakes", "nan"], "nan"),
    (["practice", "--new", "extra"], "unexpected extra argument"),
    (["doctor", "--jsn"], "did you mean '--json'"),
    (["nowhere\x1b[31m\nat all"], "needs a terminal"),
)


def said_by(inside: Inside, *line: str) -> str:
    """The one sentence, in small letters; empty if it is none."""
    try:
        return sentence(inside.run(*line), 2).lower()
    except AssertionError:
        return ""


def test_a_wrong_command_line_is_one_sentence(inside: Inside) -> None:
    said = [(line, says, said_by(inside, *line)) for line, says in WRONG]
    assert [one for one in said if says_not(*one[1:])] == []


def says_not(says: str, said: str) -> bool:
    return says.lower() not in said or said.count("did you mean") > 1


def test_a_key_where_its_name_should_be_is_not_repeated(inside: Inside) -> None:
    line = ["exec", "hi", "--endpoint", FAR, "--fast", "m", "--key-env"]
    for key in (
        "sk-proj-abcdefghijklmnop1234",
        "gsk_abcdefghijklmnop1234XYZ",
        "AbCdEf0123456789abcdef0123",
        "MY KEY",
    ):
        said = sentence(inside.run(*line, key), 2)
        log = Path(inside.environment["DUETTO_HOME"], "state", "duetto.log").read_text()
        assert "name of an environment variable" in said
        assert key not in said + log
    said = sentence(inside.run(*line, "MY_KEY"), 2)
    assert "set the environment variable MY_KEY" in said


def test_a_prompt_that_is_no_text(inside: Inside) -> None:
    assert "not text" in sentence(inside.run("exec", "-", stdin=b"a\0b"), 2)
    assert "not UTF-8" in sentence(inside.run("exec", "-", stdin=b"caf\xe9"), 2)
    assert "not UTF-8" in sentence(inside.run("exec", b"caf\xe9"), 2)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("redirection", "code", "says"),
    [
        ('"$@" --version >/dev/full', 1, "no space left"),
        ('"$@" doctor >/dev/full', 1, "no space left"),
        ('"$@" exec hi >/dev/full', 1, "no space left"),
        ('"$@" apply --check p.patch >&-', 0, ""),
        ('"$@" apply --check <&-', 1, "the input is empty"),
        ('"$@" exec - <&-', 2, "the prompt is empty"),
        ('"$@" exec hi >&-', 0, ""),
        ('"$@" exec hi 2>&- >/dev/null', 0, ""),
        ('"$@" exce 2>&-', 2, ""),
        ('"$@" <&-', 2, "needs a terminal"),
        ('"$@" --help | true; exit ${PIPESTATUS[0]}', None, ""),
        ('"$@" exec "tell me" --json | head -c1 >&2; exit ${PIPESTATUS[0]}', None, "{"),
    ],
)
def test_streams_that_are_full_closed_or_broken(
    duetto: Duetto, redirection: str, code: int | None, says: str
) -> None:
    done = duetto.shell(redirection)
    said = done.stderr.decode()
    assert done.returncode in ((0, 1) if code is None else (code,)), said
    assert "Traceback" not in said
    assert "internal error" not in said
    assert "Exception ignored" not in said
    assert says.lower() in said.lower()


@pytest.mark.slow
@pytest.mark.parametrize(
    "given",
    [
        {"LC_ALL": "POSIX", "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0", "TERM": None},
        {"TERM": "dumb", "COLUMNS": "abc", "LINES": "-1", "NO_COLOR": "1", "HOME": None},
        {"HOME": "/nonexistent", "XDG_STATE_HOME": "relative", "COLUMNS": "0"},
    ],
    ids=str,
)
def test_odd_surroundings(duetto: Duetto, given: dict[str, str | None]) -> None:
    odd = Duetto(duetto.folder, duetto.environment, given=given)
    for line in (["doctor"], ["exec", "hi"]):
        done = odd.run(*line)
        assert done.returncode == 0, done.stderr
        assert b"Traceback" not in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["file", "read-only", "missing parent is a file"])
def test_a_home_that_cannot_be_written_to(duetto: Duetto, tmp_path: Path, kind: str) -> None:
    """Nothing needs it but the practice workspace: work goes on."""
    home = tmp_path / "odd"
    if kind == "read-only":
        home.mkdir(mode=0o500)
    else:
        home.write_text("")
    if kind.startswith("missing"):
        home /= "below"
    if kind == "read-only" and os.geteuid() == 0:
        home = Path("/proc/sys")
    odd = Duetto(duetto.folder, duetto.environment, given={"DUETTO_HOME": str(home)})
    done = odd.run("exec", "hi")
    assert done.returncode == 0, done.stderr
    assert done.stderr.startswith(b"duetto: This session is not kept: ")
    assert done.stderr.count(b"\n") == 1
    seen = odd.run("doctor")
    assert seen.returncode == 1
    assert b"set DUETTO_HOME" in seen.stdout
    assert seen.stderr == b""
