"""Whatever is typed or piped in: one clear sentence, a stable exit code, nothing lost."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.support.commands import Duetto, clean_environment, sentence

LOCAL = "ws://127.0.0.1:9/v1/responses"
FAR = "wss://models.example/v1/responses"
PATCH = "*** Begin Patch\n*** Add File: new.txt\n+hi\n*** End Patch\n"


@pytest.fixture
def duetto(tmp_path: Path) -> Duetto:
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "a.py").write_text("hi\n")
    (folder / "p.patch").write_text(PATCH)
    home = tmp_path / "home"
    home.mkdir()
    return Duetto(folder, clean_environment(home))


@pytest.mark.parametrize(
    ("line", "says"),
    [
        (["exec", "hi", "there"], "unexpected extra argument (there)"),
        (["exec", "hi", "--role"], "'--role' requires an argument"),
        (["exec", "hi", "--role", ""], "'' is not one of 'fast', 'deep'"),
        (["exec", "hi", "--fast", ""], "--fast needs the name of a model"),
        (["exec", "hi", "--fast", "a\nb", "--endpoint", LOCAL], "--fast: 'a\\nb' is no name"),
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
        (["exec", "hi", "-C", "~nobody-at-all/x"], "no such file or folder"),
        (["exec", ""], "the prompt is empty"),
        (["exec", " \n "], "the prompt is empty"),
        (["exec", "-"], "the prompt is empty"),
        (["apply", ""], "names no file"),
        (["apply", "."], "is a directory"),
        (["apply", "/dev/zero"], "more than 64 MB"),
        (["apply", "p.patch", "-"], "unexpected extra argument (-)"),
        (["apply", "--chunk", "0", "p.patch"], "0 is not in the range"),
        (["apply", "--chunk", "-1", "p.patch"], "-1 is not in the range"),
        (["apply", "--chunk", "abc", "p.patch"], "'abc' is not a valid"),
        (["apply", "--root", "a.py", "p.patch"], "--root a.py is not a folder"),
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
    ],
    ids=lambda value: " ".join(value)[:60] if isinstance(value, list) else None,
)
def test_a_wrong_command_line(duetto: Duetto, line: list[str], says: str) -> None:
    said = sentence(duetto.run(*line), 2)
    assert says.lower() in said.lower()
    assert said.lower().count("did you mean") <= 1


@pytest.mark.parametrize(
    ("key_env", "variable"),
    [
        ("sk-proj-abcdefghijklmnop1234", ""),
        ("gsk_abcdefghijklmnop1234XYZ", ""),
        ("AbCdEf0123456789abcdef0123", ""),
        ("MY KEY", ""),
        ("MY_KEY", "MY_KEY"),
    ],
)
def test_a_key_where_its_name_should_be_is_not_repeated(
    duetto: Duetto, key_env: str, variable: str
) -> None:
    line = ["exec", "hi", "--endpoint", FAR, "--fast", "m", "--key-env", key_env]
    said = sentence(duetto.run(*line), 2)
    log = Path(duetto.environment["DUETTO_HOME"], "state", "duetto.log").read_text()
    if variable:
        assert f"set the environment variable {variable}" in said
        return
    assert "name of an environment variable" in said
    assert key_env not in said
    assert key_env not in log


@pytest.mark.parametrize(
    "name",
    [b"no\x1b[31m\x07\nsuch", "no\u202etxt".encode(), b"latin\xff", b"\xc2\x9b31m"],
    ids=["escapes", "bidi", "not UTF-8", "C1"],
)
@pytest.mark.parametrize("before", [["exec", "hi", "-C"], ["apply"], ["apply", "--root"]], ids=str)
def test_a_name_is_echoed_inert(duetto: Duetto, before: list[str], name: bytes) -> None:
    sentence(duetto.run(*before, name), 2)


@pytest.mark.parametrize("broken", ["\0", "a\0b"])
def test_a_prompt_that_is_no_text(duetto: Duetto, broken: str) -> None:
    assert "not text" in sentence(duetto.run("exec", "-", stdin=broken.encode()), 2)
    assert "not UTF-8" in sentence(duetto.run("exec", "-", stdin=b"caf\xe9"), 2)
    assert "not UTF-8" in sentence(duetto.run("exec", b"caf\xe9"), 2)


def test_patches_of_all_kinds(duetto: Duetto) -> None:
    said = sentence(duetto.run("apply", "-", stdin=bytes(range(256))), 2)
    assert "not UTF-8" in said
    empty = duetto.run("apply", "-")
    assert (empty.returncode, empty.stderr) == (
        1, b"duetto: line 1: no Begin Patch, nor another edit: the input is empty\n"
    )  # fmt: skip
    crlf = b"*** Begin Patch\r\n*** Update File: a.py\r\n@@\r\n-hi\r\n+ho\r\n*** End Patch\r\n"
    assert duetto.run("apply", "-", stdin=crlf).returncode == 0
    assert (duetto.folder / "a.py").read_bytes() == b"ho\n"
    evil = PATCH.replace("new.txt", "n\u202e\x1b[31m.txt").encode()
    done = duetto.run("apply", "-", "--json", stdin=evil)
    assert done.returncode == 1
    assert b"\x1b" not in done.stdout + done.stderr


@pytest.mark.parametrize(
    ("redirection", "code", "says"),
    [
        ('"$@" --version >/dev/full', 1, "no space left"),
        ('"$@" doctor >/dev/full', 1, "no space left"),
        ('"$@" apply --check p.patch >/dev/full', 1, "no space left"),
        ('"$@" exec hi --json >/dev/full', 1, "no space left"),
        ('"$@" exec hi >/dev/full', 1, "no space left"),
        ('"$@" apply --check p.patch >&-', 0, ""),
        ('"$@" apply --check p.patch 2>&-', 0, ""),
        ('"$@" apply --check <&-', 1, "the input is empty"),
        ('"$@" exec - <&-', 2, "the prompt is empty"),
        ('"$@" exec hi <&- >/dev/null', 0, ""),
        ('"$@" exec hi >&-', 0, ""),
        ('"$@" exec hi 2>&- >/dev/null', 0, ""),
        ('"$@" exce 2>&-', 2, ""),
        ('"$@" <&-', 2, "needs a terminal"),
        ('"$@" doctor <&- >&-', 0, ""),
        ('"$@" --help | true; exit ${PIPESTATUS[0]}', None, ""),
        ('"$@" exec "tell me" --json | head -c1 >&2; exit ${PIPESTATUS[0]}', None, "{"),
        ('"$@" exec hi --json --json | head -1 >/dev/null; exit ${PIPESTATUS[0]}', None, ""),
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


@pytest.mark.parametrize(
    "given",
    [
        {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
        {"LC_ALL": "POSIX", "PYTHONIOENCODING": "ascii"},
        {"PYTHONIOENCODING": "latin-1:strict"},
        {"TERM": "dumb", "COLUMNS": "abc", "LINES": "-1", "NO_COLOR": "1"},
        {"COLUMNS": "0", "TERM": None},
        {"HOME": None},
        {"HOME": "/nonexistent", "XDG_STATE_HOME": "relative"},
    ],
    ids=str,
)
def test_odd_surroundings(duetto: Duetto, given: dict[str, str | None]) -> None:
    odd = Duetto(duetto.folder, duetto.environment, given=given)
    for line in (["doctor"], ["--help"], ["exec", "hi"]):
        done = odd.run(*line)
        assert done.returncode == 0, done.stderr
        assert b"Traceback" not in done.stderr


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
    assert done.stderr == b""
    seen = odd.run("doctor")
    assert seen.returncode == 1
    assert b"set DUETTO_HOME" in seen.stdout
    assert seen.stderr == b""
