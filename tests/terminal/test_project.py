"""The real program in a project that says something: AGENTS.md, skills, hooks."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

from tests.support.calling_server import CallingServer
from tests.support.commands import DUETTO, clean_environment

FILES = {
    "work/AGENTS.md": "rules of the root\n",
    "work/sub/CLAUDE.md": "rules of sub\n",
    "work/sub/x.py": "x = 1\n",
    "work/.agents/skills/pdf/SKILL.md": "---\ndescription: About PDFs.\n---\nRead it.\n",
    "home/AGENTS.md": "rules of mine\n",
    "home/skills/mail/SKILL.md": "---\nname: mail\ndescription: About mail.\n---\nSend it.\n",
    "home/config.toml": """
        [hooks]
        before_command = "sh ../home/guard.sh"
        turn_end = ["sh", "../home/end.sh"]
    """,
    "home/guard.sh": 'if grep -q \'"command": "make\'; then echo not today; exit 2; fi\n',
    "home/end.sh": "cat >../told.json; echo the tests are red >&2; exit 2\n",
}


def run(tmp_path: Path, *arguments: str, given: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*DUETTO, *arguments],
        cwd=tmp_path / "work",
        env=clean_environment(tmp_path / "home") | {"HOME": str(tmp_path / "nobody")},
        input=given,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_it_reaches_the_model_and_refuses_what_it_should(tmp_path: Path) -> None:
    for path, text in FILES.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    read = [
        {"name": "read_file", "arguments": json.dumps({"path": path})}
        for path in ("skill:mail", "skill:pdf", "sub/x.py")
    ]
    server = CallingServer(["make all", "echo fine", *read])
    model = ("--fast", "m", "--endpoint", server.address)
    ended = run(tmp_path, "exec", "hello", "--allow", "make", *model)
    first, second = server.requests
    head = str(first["instructions"])
    assert (
        head.index("rules of mine")
        < head.index("rules of the root")
        < head.index("- pdf: About PDFs.")
    )
    assert "- mail: About mail." in head
    assert "rules of sub" not in json.dumps(first)
    assert "rules of sub" in json.dumps(second["input"])
    assert second["instructions"] == head
    refused, ran, mail, pdf, _ = server.outputs
    assert refused == "error: the hook before_command refused it: not today"
    assert ran.endswith("fine")
    assert mail.startswith(f"The skill's folder is {tmp_path}/home/skills/mail\n")
    assert "Send it." in mail
    assert "Read it." in pdf
    assert ended.returncode == 1
    assert "The hook turn_end refused turn 1: the tests are red" in ended.stderr
    assert ended.stderr.count("the tests are red") == 1
    told = json.loads((tmp_path / "told.json").read_text())
    assert (told["version"], told["event"], told["outcome"]) == (1, "turn_end", "completed")
    typed = "hello\n/skills\n/status\n/quit\n"
    said = run(tmp_path, "--linear", *model, given=typed).stdout
    assert "pdf: About PDFs. (.agents/skills/pdf/SKILL.md)" in said
    assert "Instructions: AGENTS.md, 17 characters." in said
    assert "The hook turn_end refused turn 1: the tests are red" in said
