"""Commands that run on other machines: what the processes say to each other, and in which words.

The app talks to a process of its own (`cli.cluster.client`), that one to Dask, and Dask to its
workers (`cli.cluster.worker`). Between them only bytes are passed on: the Pythons may differ.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence

import msgspec
from msgspec import Struct

from tui.core.programs import is_below

SCHEME = "dask://"
_PYTHON = re.compile(r"python[\d.]*(\.exe)?")
_CLOCK_S = 2.0
"""By so much clocks may differ unsaid."""
EXTRA = "pip install 'duetto[cluster]'"


def server_of(address: str) -> str:
    """Where Dask's scheduler listens, in its own words; empty: the address is not of this kind."""
    secure = address.startswith("dask+tls://")
    place = address.removeprefix("dask+tls://" if secure else SCHEME)
    if not re.fullmatch(r"(\[[\da-fA-F:.%]+\]|[\w.-]+):\d{1,5}", place):
        return ""
    return f"{'tls' if secure else 'tcp'}://{place}"


class SentTree(Struct, frozen=True):
    """All files of a workspace as they were at one moment."""

    files: dict[str, tuple[str, int]] = {}
    """Path -> the name of its bytes (`blob_name`), and its permissions."""
    links: dict[str, str] = {}
    """Path -> where it leads, below the root."""

    @property
    def name(self) -> str:
        """What nobody else is called that is not the same."""
        whole = sorted(self.files.items()), sorted(self.links.items())
        return hashlib.sha256(msgspec.msgpack.encode(whole)).hexdigest()[:32]


def blob_name(data: bytes) -> str:
    """By which bytes are known."""
    return hashlib.sha256(data).hexdigest()


class RemoteTask(Struct, frozen=True):
    """A command for a worker."""

    number: int
    argv: tuple[str, ...] | str
    root: str
    """The workspace's folder here: what the command says of it means the worker's."""
    package: str
    """The folder that `tui` lies in here."""
    deadline_s: float
    tree: str = ""
    texts: dict[str, bytes | None] = {}
    """In which files the workspace differs from the tree; None: there is no such file."""
    large: dict[str, str] = {}
    """The same, by the names of their bytes."""
    memory: int = 0
    brings: tuple[str, ...] = ()
    topic: str = ""
    """Where its output is told while it runs."""


class WorkerFacts(Struct, frozen=True):
    """What a worker is."""

    name: str
    duetto: str
    python: str
    system: str
    time_s: float
    """Its clock, by the calendar."""
    folds_case: bool = False
    """``a`` and ``A`` are one file there."""
    sandbox: str = ""
    """What confines commands there; empty: nothing does."""


class TaskEnd(Struct, frozen=True):
    """How a task ended."""

    number: int
    lacks: tuple[str, ...] = ()
    """Not at all: the worker has no such bytes, or (``tree``) not the tree."""
    unfit: str = ""
    """Why this worker cannot run it, and another one may."""
    status: int | None = None
    seconds: float = 0.0
    timed_out: bool = False
    error: str = ""
    strayed: str = ""
    output: bytes = b""
    """The end of what it said."""
    again: bool = False
    """It was begun anew: what was told of its output before does not count."""
    start: int = 0
    """So many bytes it had said before."""
    brought: dict[str, bytes] = {}
    run: str = ""
    """Of all times that it was begun, this one; empty: none of them ended."""
    worker: str = ""


class ClusterOrder(Struct, frozen=True):
    """From the app to its process: a task, with what is on the screen, or ``stop``."""

    task: RemoteTask
    stop: bool = False


class ClusterNews(Struct, frozen=True):
    """From the process to the app; what is not set is not said."""

    ended: TaskEnd | None = None
    number: int = 0
    """Of the task that said this."""
    output: bytes = b""
    ready: bool = False
    """The cluster is there."""
    words: str = ""
    """For the user."""
    refused: str = ""
    """There is no cluster, and why."""


def differences(facts: Iterable[WorkerFacts], ours: WorkerFacts) -> list[str]:
    """In what the workers differ from this machine, a sentence each, with their names."""
    said: dict[str, list[str]] = {}
    for one in facts:
        for words in _differing(one, ours):
            said.setdefault(words, []).append(one.name)
    return [f"{_named(names)}: {words}" for words, names in said.items()]


def _differing(one: WorkerFacts, ours: WorkerFacts) -> Iterable[str]:
    if one.duetto != ours.duetto:
        yield f"duetto is {one.duetto} there and {ours.duetto} here"
    if one.python != ours.python:
        yield f"tests run with Python {one.python} there and {ours.python} here"
    if one.system != ours.system:
        yield f"the system is {one.system} there and {ours.system} here"
    if one.folds_case != ours.folds_case:
        yield f"the file system {'does not tell' if one.folds_case else 'tells'} A from a there"
    if abs(apart := one.time_s - ours.time_s) > _CLOCK_S:
        yield f"the clock is {abs(apart):.0f} s {'ahead' if apart > 0 else 'behind'} there"
    if not one.sandbox:
        yield "nothing confines commands there"


def _named(names: Sequence[str]) -> str:
    """The first few of them."""
    more = len(names) - 2
    return f"{', '.join(names[:2])} and {more} more" if more > 0 else ", ".join(names)


def worker_argv(task: RemoteTask, root: str, package: str, python: str) -> tuple[str, ...] | str:
    """A task's command on a worker, where the workspace is ``root``.

    A Python of any place is the worker's own, another program the one of its name.
    """
    places = {task.root: root, task.package: package}
    if isinstance(task.argv, str):
        return moved_text(task.argv, {task.root: root})
    program, *rest = task.argv
    name = program.rpartition("/")[2]
    if _PYTHON.fullmatch(name):
        program = python
    elif program.startswith("/"):
        program = name
    return (program, *(_moved_word(word, places) for word in rest))


def _moved_word(word: str, places: Mapping[str, str]) -> str:
    for here, there in places.items():
        if is_below(word, here):
            return there + word[len(here.rstrip("/")) :]
    return moved_text(word, places)


def moved_text(text: str, places: Mapping[str, str]) -> str:
    """A text in which whole names of folders are others."""
    for here, there in places.items():
        parts = re.split(rf"(?<![\w./-]){re.escape(here)}(?![\w.-])", text)
        text = there.join(parts)
    return text


def moved_back(data: bytes, places: Mapping[str, str]) -> bytes:
    """What a worker says, with the names of our folders."""
    for there, here in places.items():
        data = data.replace(there.encode(), here.encode())
    return data
