"""LiteLLM's proxy behind the bridge, asked as Chat Completions and as Messages: VENV."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from bridges import bridge
from checks import finish, scenario, want
from litellm_proxy import KEY, Proxy, proxy
from talk import Talk, deltas

MODEL = "chat-model"
EXEC = {
    "type": "function", "name": "exec_command", "description": "run",
    "parameters": {"type": "object", "properties": {"cmd": {"type": "string"}}, "required": ["cmd"]},
}  # fmt: skip


def text_of(events: list[dict]) -> str:
    return "".join(deltas(events))


def play(running: Proxy, kind: str, base: str, token: str) -> None:
    talk = Talk(base, token, MODEL)
    with scenario(f"{kind}: a turn, usage, the chain"):
        events = talk.ask("hello", instructions="Be brief.")
        end = events[-1]["response"]
        want(events[-1]["type"] == "response.completed", str(events[-1]))
        want("Upstream says hello" in text_of(events), text_of(events))
        want(end["usage"]["output_tokens"] > 0, str(end["usage"]))
        more = talk.ask("more", previous_response_id=end["id"], instructions="Be brief.")
        want("roles=system,user,assistant,user" in text_of(more), text_of(more))
    with scenario(f"{kind}: a tool round trip"):
        events = talk.ask("SHELL please", tools=[EXEC])
        calls = [i for i in events[-1]["response"]["output"] if i["type"] == "function_call"]
        want(len(calls) == 1, str(events[-1]))
        want(json.loads(calls[0]["arguments"]) == {"cmd": "echo hi"}, str(calls))
        output = {"type": "function_call_output", "call_id": calls[0]["call_id"], "output": "hi"}
        parent = events[-1]["response"]["id"]
        events = talk.ask("", output, previous_response_id=parent, tools=[EXEC])
        want("tool" in text_of(events), text_of(events))
    hears = kind != "responses-ws"
    what = "an interrupt reaches the upstream behind it" if hears else "an interrupt is answered"
    with scenario(f"{kind}: {what}"):
        before = running.ended()
        talk.create("SLOW story")
        begun = talk.until("response.output_text.delta")
        told = {"response_id": begun[0]["response"]["id"], "mode": "discard_partial_items"}
        talk.say("interrupt", **told)
        end = talk.until()[-1]["response"]
        want(end["incomplete_details"] == {"reason": "interrupted"}, str(end))
        end_s = time.monotonic() + 10
        # Over its WebSocket LiteLLM does not look whether the client is there still: its upstream
        # works to the end, whoever hangs up and however (seen with FIN, RST and a close frame).
        while hears and len(running.ended()) == len(before) and time.monotonic() < end_s:
            time.sleep(0.1)
        cancelled = "cancelled" in str(running.ended()[len(before) :])
        want(cancelled or not hears, str(running.ended()))
        want(talk.ask("hello")[-1]["type"] == "response.completed", "it does not go on")


with proxy(Path(sys.argv[1])) as running:
    url = f"http://127.0.0.1:{running.port}/v1"
    bearer = {"Authorization": f"Bearer {KEY}"}
    wrong = {"Authorization": "Bearer sk-wrong"}
    endpoints = {
        "openai-chat": {"kind": "openai-chat", "url": url, "headers": bearer},
        "anthropic": {"kind": "anthropic", "url": url, "headers": bearer},
        "openai-responses": {"kind": "openai-responses", "url": url, "headers": bearer},
        "responses-ws": {
            "kind": "responses-ws",
            "url": f"ws://127.0.0.1:{running.port}/v1/responses",
            "headers": bearer,
        },
        "wrong": {"kind": "openai-chat", "url": url, "headers": wrong},
    }
    with bridge(endpoints) as (bases, token):
        for kind in ("openai-chat", "anthropic", "openai-responses", "responses-ws"):
            play(running, kind, bases[kind], token)
        with scenario("a wrong key, an unknown model: one error each"):
            (error,) = Talk(bases["wrong"], token, MODEL).ask("hello")[2:]
            want(error["type"] == "error" and error["status"] in (400, 401, 403), str(error))
            want("sk-wrong" not in str(error), "the key is in the error")
            events = Talk(bases["openai-chat"], token, MODEL).ask("hello", model="nowhere")
            want(events[-1]["type"] == "error", str(events[-1]))
            want("nowhere" in str(events[-1]["error"]["message"]), str(events[-1]))
finish()
