"""What is known of endpoints, kept in the state folder over runs; no key ever lies there.

One small JSON file, replaced whole. Several duettos may write it: only what this one learnt is
changed, under a lock. A file that is broken or cannot be written costs what was known, no more:
everything is learnt again. What is learnt while answers stream is written by a thread: neither a
slow disk nor another duetto that was stopped with the lock in its hand holds them up.
"""

from __future__ import annotations

import copy
import logging
import time
from collections.abc import Callable, Collection
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import msgspec

from tui.core.typed_data import from_json
from tui.core.wire.address import shown
from tui.core.wire.endpoint_facts import LEAST_AGE_S, Capabilities
from tui.shared_files import locked, replace_file

DOUBT_S = 7 * 24 * 3600.0
"""A refusal, or a limit, older than this is unknown again: servers learn."""
AHEAD_S = 24 * 3600.0
"""A fact from further in the future was dated by a clock that was wrong."""
MAX_ENDPOINTS = 200
"""The ones heard of last are kept."""
_SIMPLE = ("lanes", "prewarm", "websocket", "max_age_s")
_BY_MODEL = ("interrupt", "steer")
_log = logging.getLogger("tui.known_endpoints")


class Fact(msgspec.Struct, frozen=True):
    """One thing known, and since when."""

    value: bool | float
    since: float
    """Unix time, in seconds."""


Facts = dict[str, Fact]
"""By name: ``lanes``, ``prewarm``, ``websocket``, ``max_age_s``, ``interrupt MODEL``,
``steer MODEL``."""


class _FactsFile(msgspec.Struct):
    endpoints: dict[str, Facts] = {}


class KnownEndpoints:
    """The file of facts, by URL without query and credentials."""

    def __init__(self, state_dir: Path, wall_clock: Callable[[], float] = time.time) -> None:
        """``wall_clock`` gives Unix time in seconds."""
        self.file = state_dir / "endpoints.json"
        self._wall_clock = wall_clock
        self._before: dict[str, Capabilities] = {}
        """As last loaded or saved here: what differs from it was learnt by this process."""
        self._latest: dict[str, Capabilities] = {}
        """What is to be saved, if it is not yet."""
        self._writer: ThreadPoolExecutor | None = None

    def load(self, url: str) -> Capabilities:
        """What is known of an endpoint; nothing, if nothing is. Never raises."""
        known = Capabilities()
        for name, fact in self._believed(shown(url)).items():
            kind, _, model = name.partition(" ")
            if model:
                getattr(known, kind)[model] = bool(fact.value)
            elif kind == "max_age_s":
                known.max_age_s = float(fact.value)
            else:
                setattr(known, kind, bool(fact.value))
        self._before[shown(url)] = copy.deepcopy(known)
        return known

    def keep(self, url: str, known: Capabilities) -> None:
        """Have saved what is known now, without waiting for it. Never raises.

        What cannot be written is tried again with the next fact, and when this is closed.
        """
        self._latest[shown(url)] = copy.deepcopy(known)
        if self._writer is None:
            self._writer = ThreadPoolExecutor(1, "known endpoints")
        self._writer.submit(self._save_all)

    def flush(self) -> None:
        """Wait until what was kept is written, or cannot be."""
        if self._writer is not None:
            self._writer.submit(self._save_all).result()

    def close(self) -> None:
        """As `flush`, and end the thread."""
        self.flush()
        writer, self._writer = self._writer, None
        if writer is not None:
            writer.shutdown()

    def save(self, url: str, known: Capabilities) -> None:
        """Keep what was learnt since `load`. Never raises."""
        place = shown(url)
        before, after = _facts(self._before.get(place, Capabilities())), _facts(known)
        learnt = {name: value for name, value in after.items() if before.get(name) != value}
        gone = before.keys() - after.keys()
        try:
            if learnt or gone:
                self.file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                with locked(self.file, surely=True):
                    self._write(place, learnt, gone)
        except OSError as error:
            _log.warning("%s cannot be written: %s", self.file, error.strerror)
        else:
            self._before[place] = copy.deepcopy(known)

    def _save_all(self) -> None:
        for place, known in list(self._latest.items()):
            self.save(place, known)

    def all(self) -> dict[str, Facts]:
        """All that is believed now, by URL, for ``duetto doctor``. Never raises."""
        return {place: facts for place in self._read() if (facts := self._believed(place))}

    def _believed(self, place: str) -> Facts:
        """The facts of an endpoint without those that are too old, or make no sense."""
        now, facts = self._wall_clock(), self._read().get(place, {})
        return {
            name: fact for name, fact in facts.items() if _is_name(name) and _holds(name, fact, now)
        }

    def _read(self) -> dict[str, Facts]:
        try:
            return from_json(self.file.read_bytes(), _FactsFile).endpoints
        except (OSError, msgspec.DecodeError, UnicodeError, RecursionError):
            return {}

    def _write(self, place: str, learnt: dict[str, bool | float], gone: Collection[str]) -> None:
        endpoints, now = self._read(), self._wall_clock()
        facts = endpoints.setdefault(place, {})
        facts.update({name: Fact(value, now) for name, value in learnt.items()})
        for name in gone:
            facts.pop(name, None)
        heard = {
            one: max((f.since for f in its.values()), default=0) for one, its in endpoints.items()
        }
        newest = sorted(endpoints, key=heard.__getitem__)[-MAX_ENDPOINTS:]
        kept = {one: endpoints[one] for one in newest}
        data = msgspec.json.format(msgspec.json.encode(_FactsFile(kept)), indent=1)
        replace_file(self.file, data)


def _facts(known: Capabilities) -> dict[str, bool | float]:
    """The facts of an endpoint by name; what is unknown is left out."""
    facts = {name: getattr(known, name) for name in _SIMPLE}
    for kind in _BY_MODEL:
        facts |= {f"{kind} {model}": value for model, value in getattr(known, kind).items()}
    return {name: value for name, value in facts.items() if value is not None}


def _holds(name: str, fact: Fact, now: float) -> bool:
    """Whether a fact is believed at ``now``, in Unix seconds."""
    limit = name == "max_age_s"
    if limit != (not isinstance(fact.value, bool)) or (limit and not fact.value >= LEAST_AGE_S):
        return False
    passing = limit or fact.value is False
    return fact.since <= now + AHEAD_S and not (passing and fact.since < now - DOUBT_S)


def _is_name(name: str) -> bool:
    kind, _, model = name.partition(" ")
    return kind in _BY_MODEL if model else kind in _SIMPLE
