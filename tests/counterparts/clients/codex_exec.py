"""``codex exec`` against a bridge: BINARY BASE MODEL KEY. One line a scenario (see checks.py)."""

from __future__ import annotations

import json
import sys

from checks import finish, scenario, want
from codex_home import Codex, codex_before

binary, base, _, key = sys.argv[1:5]
CLASSIC, LITE = "gpt-5.5", "gpt-6-astra"
SCRIPT = "const r = await tools.exec_command({cmd: 'echo hello-from-tool'}); text(r.output);"


def items(output: str, kind: str) -> list[dict]:
    events = [json.loads(line) for line in output.splitlines() if line.startswith("{")]
    done = [event["item"] for event in events if event.get("type") == "item.completed"]
    return [item for item in done if item.get("type") == kind]


def prewarmed(codex: Codex, since: int) -> None:
    """The first create of a connection is a prewarm, and the turn goes on from it."""
    warm = codex.tap.wait(
        lambda n: n.says("response.create") and n.data.get("generate") is False,
        "a prewarm", since=since,
    )  # fmt: skip
    answer = codex.then(warm, "response.completed")
    first = codex.creates(since)[0]
    parent = first.data.get("previous_response_id")
    want(parent == answer.data["response"]["id"], f"parent {parent} is not the prewarm")
    want(not any(n.says("error") for n in codex.tap.notes[since:]), "the bridge said error")


def shell_call(codex: Codex, model: str, prompt: str) -> None:
    since = len(codex.tap.notes)
    output = codex.exec(prompt, model)
    prewarmed(codex, since)
    said = "".join(item["text"] for item in items(output, "agent_message"))
    want("hello-from-tool" in said, f"the output did not come back: {output}")
    first, second = codex.creates(since)
    want(second.connection == first.connection, "another socket after the tool")
    created = codex.then(first, "response.created").data["response"]["id"]
    want(second.data.get("previous_response_id") == created, "the tool's turn has no parent")
    outputs = [i["type"] for i in second.data["input"]]
    want(all(kind.endswith("_call_output") for kind in outputs), f"it sent {outputs}")


with codex_before(binary, base, key) as codex:
    with scenario("exec classic: prewarm, shell call"):
        shell_call(codex, CLASSIC, 'rehearse call exec_command {"cmd": "echo hello-from-tool"}')
    with scenario("exec classic: two calls at once"):
        line = 'rehearse call exec_command {{"cmd": "echo hello-from-tool {}"}}'
        shell_call(codex, CLASSIC, f"{line.format('one')}\n{line.format('two')}")
        want(len(codex.creates()[-1].data["input"]) == 2, "not both outputs in one input")
    with scenario("exec classic: patch"):
        output = codex.exec("add a module that finds the tags in a note", CLASSIC)
        made = codex.work / "ledger" / "tags.py"
        want(made.is_file(), f"no file was written: {output}")
        want(items(output, "reasoning"), "no reasoning was shown")
    with scenario("exec lite: prewarm, shell call"):
        shell_call(codex, LITE, f"rehearse call exec {SCRIPT}")
    with scenario("exec lite: patch"):
        patch = "*** Begin Patch\n*** Add File: lite.txt\n+hello\n*** End Patch\n"
        script = f"const r = await tools.apply_patch({json.dumps(patch)}); text(r);"
        codex.exec(f"rehearse call exec {script}", LITE)
        want((codex.work / "lite.txt").is_file(), "no file was written")
    with scenario("exec without sockets: shell call, patch, lite"):
        by_http = ("-c", "model_providers.bridge.supports_websockets=false")
        since = len(codex.tap.notes)
        call = 'rehearse call exec_command {"cmd": "echo hello-from-tool"}'
        want("answered: " in codex.exec(call, CLASSIC, *by_http), "no answer to the call")
        (codex.work / "ledger" / "tags.py").unlink()
        codex.exec("add a module that finds the tags in a note", CLASSIC, *by_http)
        want((codex.work / "ledger" / "tags.py").is_file(), "no file was written")
        want("answered: " in codex.exec(f"rehearse call exec {SCRIPT}", LITE, *by_http), "no answer")
        heads = [n.data for n in codex.tap.notes[since:] if n.kind == "open" and n.sender == "client"]
        want(heads and all(head.startswith("POST ") for head in heads), f"it opened {heads}")
finish()
