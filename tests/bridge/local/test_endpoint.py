"""A model on this machine behind the bridge: a server stands in for llama.cpp's."""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import json
import os
import signal
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from websockets.asyncio.client import ClientConnection, connect

from tests.support.bridge_client import TERMINAL, create, prose, until
from tests.support.gguf import gguf
from tests.support.rehearsed import user
from tui.bridge.endpoints.base import EndpointSpec, Target
from tui.bridge.local import process
from tui.bridge.local.endpoint import MOST_SAID
from tui.bridge.server import Bridge
from tui.core.files import file_block
from tui.core.wire.address import Address

PY = "def f(x):\n    return x\n"
BLOCK = file_block("a.py", PY, from_="1", to="2", lines="2")
HEAD = "a.py\n<<<<<<< SEARCH\n    return x\n=======\n"
GOOD = f"{HEAD}    return 2 * x\n>>>>>>> REPLACE\n"
TOOLS = [{"type": "custom", "name": "apply_patch"}, {"type": "function", "name": "read_file"}]


class Stage:
    """A bridge before a model that says what the test wants."""

    def __init__(self, socket: ClientConnection, model: Path) -> None:
        self.socket, self.model = socket, model

    async def turn(self, *said: str, **fields: Any) -> list[dict[str, Any]]:
        """The events of one answer."""
        await self.begin(*said, **fields)
        return await until(self.socket)

    async def begin(self, *said: str, **fields: Any) -> None:
        items = [*map(user, said)]
        await create(self.socket, "", **{"input": items, "model": "tiny", "tools": TOOLS, **fields})

    @property
    def asked(self) -> list[dict[str, Any]]:
        """What the model was asked, and that somebody left."""
        return [json.loads(line) for line in self.model.with_suffix(".asked").open()]


@pytest.fixture
async def stage(
    bridge: Bridge, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Any]:
    monkeypatch.setattr(process, "PACKAGE", "json")
    monkeypatch.setattr(process, "MODULE", "tests.support.local_model_server")
    monkeypatch.setattr(process, "free_bytes", lambda: None)
    opened = contextlib.AsyncExitStack()

    async def of(*says: str | int | None, name: str = "tiny") -> Stage:
        model = gguf(tmp_path / f"{name}.gguf")
        model.with_suffix(".says").write_text(json.dumps(says))
        spec = EndpointSpec("local", "http://local.invalid/v1", options={"model": str(model)})
        bridge.endpoints.targets["local"] = Target("local", spec, Address(spec.url))
        headers = {"Authorization": f"Bearer {bridge.token}"}
        url = bridge.url_of("local")
        socket = await opened.enter_async_context(
            connect(url, additional_headers=headers, proxy=None)
        )
        return Stage(socket, model)

    async with opened:
        yield of


async def test_an_edit_is_written_under_a_grammar_made_for_the_file(stage: Any) -> None:
    one = await stage(GOOD)
    events = await one.turn(BLOCK, "double it")
    assert prose(events) == GOOD
    end = events[-1]["response"]
    assert end["usage"]["output_tokens"] == len(GOOD)
    assert end["usage"]["input_tokens"] == 10
    (asked,) = one.asked
    assert asked["key"]
    assert '"a.py\\n<<<<<<< SEARCH\\n"' in asked["grammar"]
    assert PY in asked["messages"][1]["content"]
    assert asked["messages"][1]["content"].endswith("double it")


async def test_what_was_read_for_the_last_prompt_is_not_read_again_for_another_file(
    stage: Any,
) -> None:
    """llama.cpp reads anew from the first character that differs: the files keep their order."""
    one, other = await stage(GOOD, GOOD), file_block("b.py", PY, from_="1", to="2", lines="2")
    for prompt in ("double it in a.py", "double it in b.py"):
        await one.turn(BLOCK, other, prompt)
    first, second = (asked["messages"][1]["content"] for asked in one.asked)
    assert second == first.replace("in a.py", "in b.py")
    assert first.count(PY) == 2


async def test_a_line_that_is_wrong_is_never_shown_and_is_written_again(stage: Any) -> None:
    one = await stage(f"{HEAD}    here it is\n", "    return 3\n>>>>>>> REPLACE\n")
    events = await one.turn(BLOCK, "make it three")
    assert prose(events) == f"{HEAD}    return 3\n>>>>>>> REPLACE\n"
    assert one.asked[-1]["messages"][-1] == {"role": "assistant", "content": HEAD}
    assert one.asked[-1]["temperature"] > one.asked[0]["temperature"]


async def test_of_a_long_file_the_beginning_is_changed_so_that_the_whole_is_right(
    stage: Any,
) -> None:
    lines = ["A = 1", "B = [", *(f"    {n}," for n in range(900)), "]", "A = 1"]
    text = "".join(f"{line}\n" for line in lines)
    count = str(len(lines))
    said = "b.py\n<<<<<<< SEARCH\n    3,\n=======\n    30,\n>>>>>>> REPLACE\n"
    one = await stage(said)
    events = await one.turn(file_block("b.py", text, from_="1", to=count, lines=count), "more")
    assert prose(events) == said
    (asked,) = one.asked
    assert "    899," not in asked["messages"][1]["content"]
    assert "899," not in asked["grammar"]
    assert '"A = 1' not in asked["grammar"].partition("\n")[0]  # it is there twice


async def test_of_a_file_of_more_tokens_than_it_looks_less_is_shown(stage: Any) -> None:
    text = "".join(f"# 这是第{n}行\n" for n in range(500)) + PY
    said = "b.py\n<<<<<<< SEARCH\n# 这是第3行\n=======\n# 3\n>>>>>>> REPLACE\n"
    one = await stage(12_000, 6_000, said)
    events = await one.turn(file_block("b.py", text, from_="1", to="502", lines="502"), "shorter")
    assert prose(events) == said
    lengths = [len(asked["messages"][1]["content"]) for asked in one.asked]
    assert lengths[0] > 2 * lengths[1] > 2 * lengths[2]


async def test_where_nothing_fits_it_is_said(stage: Any) -> None:
    one = await stage(*[400_000] * 20)
    refused = (await one.turn(BLOCK, "double it"))[-1]
    assert "No line of these files fits into the window" in json.dumps(refused)


async def test_a_model_that_says_only_the_name_of_a_file_is_not_asked_for_ever(stage: Any) -> None:
    one = await stage("a.py\n", "a.py\n", "a.py\n")
    events = await one.turn(BLOCK, "double it")
    assert "ended without saying what to change" in json.dumps(events[-1])
    assert len(one.asked) == 1


@pytest.mark.slow
async def test_a_model_that_writes_no_right_line_ends_with_the_file_s_own(stage: Any) -> None:
    one = await stage(f"{HEAD}    no no\n", *["    no no\n"] * 20)
    events = await one.turn(BLOCK, "make it three")
    assert prose(events) == f"{HEAD}    return x\n>>>>>>> REPLACE\n"
    assert events[-1]["type"] == "response.completed"


async def test_an_interrupt_ends_the_request_and_the_next_one_is_answered(stage: Any) -> None:
    one = await stage(None, GOOD)
    await one.begin(BLOCK, "double it")
    begun = (await until(one.socket, "response.output_item.added"))[0]["response"]["id"]
    say = {"response_id": begun, "mode": "discard_partial_items"}
    await one.socket.send(json.dumps({"type": "response.interrupt", **say}))
    assert (await until(one.socket))[-1]["type"] in TERMINAL
    async with asyncio.timeout(60):
        while {"left": True} not in one.asked:
            await asyncio.sleep(0.01)
    assert prose(await one.turn(BLOCK, "double it")) == GOOD


async def test_a_file_that_is_gone_when_its_process_has_died_is_named(stage: Any) -> None:
    one = await stage(GOOD)
    await one.turn(BLOCK, "double it")
    os.kill(int(one.model.with_suffix(".pid").read_text()), signal.SIGKILL)
    one.model.unlink()
    said = ""
    async with asyncio.timeout(60):
        while "tiny.gguf cannot be read (No such file or directory)" not in said:
            said = json.dumps((await one.turn(BLOCK, "double it"))[-1])


async def test_who_leaves_while_a_model_loads_leaves_it_to_the_next(stage: Any) -> None:
    one = await stage(GOOD, name="slow")
    starts = one.model.with_suffix(".starts")
    await one.begin(BLOCK, "double it", model="slow")
    begun = (await until(one.socket, "response.created"))[0]["response"]["id"]
    async with asyncio.timeout(60):
        while not (starts.exists() and starts.read_text()):
            await asyncio.sleep(0.01)
    say = {"response_id": begun, "mode": "discard_partial_items"}
    await one.socket.send(json.dumps({"type": "response.interrupt", **say}))
    assert (await until(one.socket))[-1]["type"] in TERMINAL
    await one.begin(BLOCK, "double it", model="slow")
    one.model.with_suffix(".loaded").touch()
    assert prose(await until(one.socket)) == GOOD
    assert len(starts.read_text().split()) == 1


async def test_a_model_that_another_duetto_runs_too_is_said_once(stage: Any) -> None:
    one = await stage(GOOD, GOOD)
    with one.model.open("rb") as other:
        fcntl.flock(other, fcntl.LOCK_SH)
        told = (await one.turn(BLOCK, "double it"))[-1]["response"]["metadata"]["duetto_notice"]
        assert told.startswith("tiny runs for another duetto, too: this one takes 0.2 GB of memory")
        assert "duetto_notice" not in (await one.turn(BLOCK, "again"))[-1]["response"]["metadata"]
    third = os.open(one.model, os.O_RDONLY)
    with pytest.raises(BlockingIOError):
        fcntl.flock(third, fcntl.LOCK_EX | fcntl.LOCK_NB)
    os.close(third)


@pytest.mark.parametrize(
    ("option", "value"),
    [("slots", 0), ("slots", 5000), ("window", -1), ("window", 0), ("threads", -1)],
)
async def test_an_option_that_no_model_can_be_run_with_is_named(
    stage: Any, bridge: Bridge, option: str, value: int
) -> None:
    one = await stage(GOOD)
    bridge.endpoints.targets["local"].spec.options[option] = value
    refused = (await one.turn(BLOCK, "x"))[-1]["error"]["message"]
    assert refused.startswith(f"The option '{option}' of this endpoint: expected ")
    assert not one.model.with_suffix(".starts").exists()


async def test_a_file_that_the_prompt_names_is_read_first(stage: Any) -> None:
    one = await stage("never said")
    events = await one.turn("double it in a.py", instructions="Files:\na.py\nb.py")
    (call,) = events[-1]["response"]["output"]
    assert (call["name"], json.loads(call["arguments"])) == ("read_file", {"path": "a.py"})


@pytest.mark.slow
async def test_who_may_not_change_files_gets_words(stage: Any) -> None:
    one = await stage("It returns x.")
    assert prose(await one.turn(BLOCK, "what is it?", tools=TOOLS[1:])) == "It returns x."
    assert "grammar" not in one.asked[0]
    assert MOST_SAID in one.asked[0].values()  # it may go on without an end


@pytest.mark.slow
async def test_what_a_library_does_not_know_is_said_by_name(stage: Any) -> None:
    one = await stage("", name="unknown")
    refused = (await one.turn(BLOCK, "x", model="unknown"))[-1]
    assert "does not know the architecture zebra" in refused["error"]["message"]


@pytest.mark.slow
async def test_why_a_file_cannot_be_loaded_is_the_first_that_the_library_says(stage: Any) -> None:
    one = await stage("", name="broken")
    refused = (await one.turn(BLOCK, "x", model="broken"))[-1]["error"]["message"]
    assert refused.startswith("the chat template in ")
    assert refused.endswith("broken.gguf cannot be loaded (Unexpected token: }} of type 11).")


async def test_without_the_extra_one_sentence_says_how_to_get_it(
    stage: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "PACKAGE", "no_such_package")
    one = await stage("")
    refused = (await one.turn(BLOCK, "x"))[-1]
    words = "A model on this machine needs a package more: pip install 'duetto[local]'."
    assert refused["error"]["message"] == words


async def test_another_model_is_refused_with_the_name_of_the_one_there_is(stage: Any) -> None:
    one = await stage("")
    refused = (await one.turn(BLOCK, "x", model="huge"))[-1]
    assert "there are tiny." in refused["error"]["message"]


@pytest.mark.slow
async def test_the_process_ends_with_the_bridge(stage: Any, bridge: Bridge) -> None:
    one = await stage(GOOD)
    await one.turn(BLOCK, "double it")
    pid = int(one.model.with_suffix(".pid").read_text())
    await bridge.close()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
