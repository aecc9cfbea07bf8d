"""Which command lines only read: a table, and the shells themselves as judges of the grammar."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from tests.support.tables import each
from tui.core.shell.only_reads import Judgement, allowed, for_argv, judge, prefix_of


def rows() -> list[tuple[str, str]]:
    lines = Path(__file__).with_name("verdicts.txt").read_text("utf-8").splitlines()
    return [
        (line[:10].strip(), re.sub(r"\\(n|r|0|u[0-9a-f]{4})", _character, line[10:]))
        for line in lines
        if line and not line.startswith("#")
    ]


def _character(escape: re.Match[str]) -> str:
    plain = {"n": "\n", "r": "\r", "0": "\0"}
    return plain.get(escape[1]) or chr(int(escape[1][1:] or "0", 16))


def verdict(judgement: Judgement) -> str:
    if not judgement.reads:
        return "asks"
    if any(file.endswith(".env") for file in judgement.files):
        return "private"
    return "sweeps" if judgement.sweeps else "reads"


@each("expected, command", rows())
def test_the_table_of_verdicts(expected: str, command: str) -> None:
    judgement = judge(command)
    assert verdict(judgement) == expected.replace("deceives", "asks"), judgement
    assert judgement.reads != bool(judgement.why)


def test_the_table_has_what_it_promises() -> None:
    verdicts = [expected for expected, _ in rows()]
    assert len(verdicts) >= 200
    assert verdicts.count("deceives") >= 200


@each(
    "command, why",
    [
        ("rm x", "rm is not known to only read"),
        ("ls; git push", "git push is not known to only read"),
        ("sort -o a b", "sort -o is not known to only read"),
        ("ls > out.txt", "it writes to out.txt"),
        ("X=1 ls", "it sets X"),
        ("ls $(x)", "it has another command or expression inside ($…)"),
        ("cat $x", "what cat gets is not known yet ($x)"),
        ("sort *", "a name that * finds could be an option of sort"),
        ("", "there is no command in it"),
        ("ls | ", "it ends in the middle"),
        ("ls 'a", "a quote is not closed"),
        ("ls &", "it leaves a command running (&)"),
        ("cat /proc/1/environ", "it reads /proc/1/environ"),
    ],
)
def test_the_user_is_told_why_it_is_asked(command: str, why: str) -> None:
    assert judge(command).why == why


@each(
    "command, prefix",
    [
        ("pytest -q tests", "pytest"),
        ("cd sub && pytest -q 2>&1 | tail -5", "pytest"),
        ("git commit -m 'a b'", "git commit"),
        ("npm run test -- -x", "npm run test"),
        ("npm test", "npm test"),
        ("uv run pytest", "uv run pytest"),
        ("python -m pytest -q", "python -m pytest"),
        ("./run.sh now", "./run.sh"),
        ("git commit -m a; git commit -m b", "git commit"),
        ("git commit; git push", ""),
        ("git -c a=b commit", ""),
        ("npm", ""),
        ("npm run -s test", ""),
        ("uv run python -c x", ""),
        ("python x.py", ""),
        ("bash -c x", ""),
        ("/bin/bash -c x", ""),
        ("sudo make", ""),
        ("env X=1 make", ""),
        ("X=1 make", ""),
        ("make > log", ""),
        ("rm x", ""),
        ("$x y", ""),
        ("make $(x)", ""),
        ("ls", ""),
    ],
)
def test_the_prefix_that_is_offered(command: str, prefix: str) -> None:
    assert " ".join(prefix_of(judge(command))) == prefix


@each(
    "command, holds",
    [
        ("pytest", True),
        ("pytest -q tests/*.py", True),
        ("pytest | tail -3", True),
        ("cd sub && pytest; echo $?", True),
        ("cd /work/sub && pytest", True),
        ("git commit -m x && pytest", True),
        ("cd .. && pytest", False),
        ("cd /tmp && pytest", False),
        ("cd && pytest", False),
        ("pytests", False),
        ("git push", False),
        ("git", False),
        ("*test", False),
        ("pytest > x", False),
        ("pytest $(x)", False),
        ("pytest $x", False),
        ("X=1 pytest", False),
        ("pytest; rm x", False),
        ("pytest & rm x", False),
        ("time pytest", False),
        ("if pytest; then pytest; fi", False),
    ],
)
def test_what_an_allowed_prefix_covers(command: str, holds: bool) -> None:
    prefixes = {("pytest",), ("git", "commit"), ()}
    assert allowed(judge(command), prefixes, "/work") is holds


@each(
    "argv, line",
    [
        (["bash", "-lc", "ls | head"], "ls | head"),
        (["/bin/sh", "-c", "ls"], "ls"),
        (["zsh", "-c", "ls"], "zsh -c ls"),
        (["bash", "-ic", "ls"], "bash -ic ls"),
        (["ls", "a b", "$(x)"], "ls 'a b' '$(x)'"),
    ],
)
def test_an_argv_as_a_line(argv: list[str], line: str) -> None:
    assert for_argv(argv) == line


@each(
    "command",
    [
        *("(" * 10_000, "a " * 50_000, "$((" * 1300, "'" * 3999, '"$' * 2000, '"' + "$" * 3998),
        *("\\\n" * 2000, "a;" * 2000, "[" * 4000, "\udcff" * 100, "cat '\udcff'", "ls \ud800"),
    ],
)
def test_junk_is_judged_and_never_raises(command: str) -> None:
    judgement = judge(command)
    assert judgement.reads is (command == "cat '\udcff'")


def test_many_ways_of_a_cd_are_not_followed() -> None:
    assert judge("cd a; cd b; cd c; cat x").reads
    assert not judge("cd a; cd b; cd c; cd d; cat x").reads


SHELLS = [path for shell in ("dash", "bash") if (path := shutil.which(shell))]
PIECES = r"""p p p p ; && || | 'a b' ' " \ \\ "c d" # 2>&1 >/dev/null 2>/dev/null < > 1 = A=1
{ } , {1,2} ! ~ -x $ $? ( ) ` & é [ ] "\$a\q" "" '' % ^ $'x'"""
pieces = st.sampled_from([*re.split(r"\s", PIECES), " ", "  ", "\t", "\\\n", "\n", "\xa0"])


@pytest.fixture(scope="module")
def stubs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the one program ``p``, which says what it got."""
    folder = tmp_path_factory.mktemp("stubs")
    program = folder / "p"
    program.write_text(
        '#!/bin/sh\nfor word do printf "%s\\0" "$word" >>"$LOG"; done\nprintf "\\001\\0" >>"$LOG"\n'
    )
    program.chmod(0o755)
    return folder


@pytest.mark.slow
@settings(
    max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.lists(pieces, max_size=10).map("".join))
@example("p'a'2>/dev/null")
@example("p {1,2}")
@example('"c\n"')
def test_the_shells_see_the_words_that_are_judged(stubs: Path, tail: str) -> None:
    """Whatever is read as plain runs just those programs with just those words."""
    line = "p " + tail
    judgement = judge(line)
    if not judgement.plain or any(words[:1] != ("p",) for words in judgement.programs):
        return
    runs = {words[1:] for words in judgement.programs}
    for shell in SHELLS:
        log = stubs / "log"
        log.write_bytes(b"")
        subprocess.run(
            [shell, "-c", line],
            cwd=stubs,
            env={"PATH": str(stubs), "LOG": str(log), "HOME": "/nowhere", "LC_ALL": "C.UTF-8"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
        )
        for got in log.read_bytes().decode().split("\1\0")[:-1]:
            words = tuple(got.split("\0")[:-1])
            assert any(_same(words, seen) for seen in runs), (shell, words, runs)


def _same(got: tuple[str, ...], judged: tuple[str, ...]) -> bool:
    """Tildes and globs stay as they were written."""
    return len(got) == len(judged) and all(
        word == seen or seen.startswith("~") or "[" in seen
        for word, seen in zip(got, judged, strict=True)
    )


def test_several_threads_may_judge_the_first_commands() -> None:
    """Attempts do: msgspec learnt the table's type in each, and the process ended."""
    code = (
        "import sys, threading\nsys.setswitchinterval(1e-6)\n"
        "from tui.core.shell.only_reads import judge\n"
        "together = threading.Barrier(8)\n"
        "def run():\n    together.wait()\n    assert judge('ls').reads\n"
        "threads = [threading.Thread(target=run) for _ in range(8)]\n"
        "[one.start() for one in threads]\n[one.join() for one in threads]\n"
    )
    for _ in range(3):
        subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
