"""Codex's own screen against a bridge: BINARY BASE MODEL KEY. One line a scenario."""

from __future__ import annotations

import sys

from checks import finish, scenario, want
from codex_home import Codex, Screen, codex_before, on_screen

binary, base, _, key = sys.argv[1:5]
LONG = "rehearse 20000 tokens of prose"


def ready(codex: Codex, since: int = 0) -> None:
    """The screen is up and its prewarm is answered."""
    warm = codex.tap.wait(
        lambda n: n.says("response.create") and n.data.get("generate") is False,
        "a prewarm", since=since,
    )  # fmt: skip
    codex.then(warm, "response.completed")


def streaming(codex: Codex, screen: Screen) -> tuple:
    """A long answer is on its way; its create and its created."""
    screen.say(LONG)
    create = codex.create(LONG)
    created = codex.then(create, "response.created")
    codex.then(create, "response.output_text.delta")
    screen.wait("Rehearsed text")
    return create, created


def after_esc(codex: Codex, screen: Screen, cut: object, words: str) -> None:
    """The next turn after Esc: a new socket, the whole history, an answer."""
    screen.say(words)
    create = codex.create(words)
    want(create.connection != cut.connection, "the cut socket was used again")
    want("previous_response_id" not in create.data, "a parent on a new socket")
    want("<turn_aborted>" in str(create.data["input"]), "nothing tells of the Esc")
    codex.then(create, "response.completed")
    screen.wait("rehearsal model, no real one")


def sent(codex: Codex, kind: str) -> list:
    return [n for n in codex.tap.notes if n.sender == "client" and n.says(kind)]


def classic() -> None:
    with codex_before(binary, base, key) as codex, on_screen(codex, "-m", "gpt-5.5") as screen:
        ready(codex)
        with scenario("tui classic: two turns on one chain"):
            screen.say("PLAIN hello")
            first = codex.create("PLAIN hello")
            end = codex.then(first, "response.completed").data["response"]["id"]
            screen.wait("rehearsal model, no real one")
            screen.say("rehearse 50 tokens of prose")
            second = codex.create("rehearse 50 tokens of prose")
            want(second.data.get("previous_response_id") == end, "the second turn has no parent")
            want(second.connection == first.connection, "another socket")
            codex.then(second, "response.completed")
            screen.wait("Rehearsed text")
        with scenario("tui classic: Esc drops the socket, the next turn works"):
            create, _ = streaming(codex, screen)
            screen.key("Escape")
            end = codex.tap.wait(
                lambda n: (n.connection, n.sender, n.kind) == (create.connection, "client", "end"),
                "the end of the socket", 10,
            )  # fmt: skip
            since = codex.tap.notes.index(end)
            closes = [n for n in codex.tap.notes[:since] if n.kind == "close"]
            want(not [n for n in closes if n.connection == create.connection], "a close frame")
            want(not sent(codex, "response.interrupt"), "an interrupt was sent")
            after_esc(codex, screen, create, "PLAIN after esc")
        with scenario("tui classic: text sent while it streams goes out behind the end"):
            screen.say("rehearse 500 tokens of prose")
            create = codex.create("rehearse 500 tokens of prose")
            codex.then(create, "response.output_text.delta")
            screen.say("PLAIN steer text")
            follow = codex.create("PLAIN steer text")
            end = codex.then(create, "response.completed")
            parent = follow.data.get("previous_response_id")
            want(parent == end.data["response"]["id"], "it is not on the chain")
            codex.then(follow, "response.completed")


def lite_esc() -> None:
    flags = ("-m", "gpt-6-astra", "--enable", "interrupt_on_cancel")
    with codex_before(binary, base, key) as codex, on_screen(codex, *flags) as screen:
        with scenario("tui lite, interrupt_on_cancel: Esc interrupts, the next turn works"):
            ready(codex)
            create, created = streaming(codex, screen)
            screen.key("Escape")
            interrupt = codex.then(create, "response.interrupt", "client", 10)
            response_id = created.data["response"]["id"]
            want(interrupt.data["response_id"] == response_id, str(interrupt.data))
            accepted = codex.then(interrupt, "response.interrupt.accepted", timeout_s=5)
            want(accepted.data["response_id"] == response_id, str(accepted.data))
            gone = codex.then(interrupt, "response.output_item.interrupted", timeout_s=5)
            end = codex.then(gone, "response.incomplete", timeout_s=5).data["response"]
            want(end["incomplete_details"] == {"reason": "interrupted"}, str(end))
            late_s = accepted.at_s - interrupt.at_s
            want(late_s < 0.25, f"accepted after {late_s:.2f} s")
            after_esc(codex, screen, create, "PLAIN after esc")


def lite_steer() -> None:
    with codex_before(binary, base, key) as codex, on_screen(codex, "-m", "gpt-6-astra") as screen:
        with scenario("tui lite: steering interrupts and goes on from the interrupted response"):
            ready(codex)
            create, created = streaming(codex, screen)
            screen.say("PLAIN steer text")
            interrupt = codex.then(create, "response.interrupt", "client", 15)
            end = codex.then(interrupt, "response.incomplete", timeout_s=5)
            follow = codex.create("PLAIN steer text")
            want(follow.connection == create.connection, "another socket")
            response_id = created.data["response"]["id"]
            want(end.data["response"]["id"] == response_id, "another response ended")
            parent = follow.data.get("previous_response_id")
            want(parent == response_id, f"parent {parent}")
            codex.then(follow, "response.completed")
            screen.wait("rehearsal model, no real one")
            errors = [n for n in codex.tap.notes if n.says("error")]
            want(not errors, str(errors))


for part in (classic, lite_esc, lite_steer):
    with scenario(f"starting Codex for {part.__name__}", told=False):
        part()
finish()
