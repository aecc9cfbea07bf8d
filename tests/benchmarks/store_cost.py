"""What it costs to keep every session: the start, keys, the disk; and a search.

Run ``python -m tests.benchmarks store_cost [--quick]``. The real program is started over a store of
10,000 sessions and over none, and typed to with its store on and off while 10,000 tokens/s come, in
turns; a day of 10,000,000 tokens is written, and words are looked for in 1,000,000 lines. `BUDGETS`
says what is allowed; exit status 1: something is beyond it.
"""

from __future__ import annotations

import argparse
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from tests.benchmarks.screen.measurement import pressed_keys
from tests.benchmarks.screen.terminal import Emulator, PseudoTerminal
from tests.benchmarks.workplace import MODEL, ask, p95, ready, waits_ms, workplace
from tests.support.commands import DUETTO
from tests.support.floods import Flood, flooding, text
from tests.support.sources import ROOT
from tui.core.conversation import BlockKind
from tui.core.document.hunk import Decision, Kind, Stage
from tui.core.session_record import (
    Began,
    BlobKept,
    BlockSaid,
    EntryMade,
    FileKept,
    HunkMade,
    HunksAre,
    Record,
    RequestSent,
    StoredRecord,
    TurnBegan,
    TurnEnded,
    item_as_json,
    sha_of,
)
from tui.effects.store import reading
from tui.effects.store.database import Database
from tui.effects.store.schema import FILE

BUDGETS = {
    "first paint with 10,000 sessions, times that with none": 1.05,
    "key echo at 10,000 tokens/s with a store, times that without": 1.10,
    "MB of a day of 10,000,000 tokens": 200.0,
    "ms of the slowest search in 1,000,000 lines": 50.0,
    "s from resuming 5,000 turns to the last words of them on the screen": 1.0,
}
"""A key's echo differs by up to a tenth between two rounds of the same."""
PACE_S = 0.0026
TOKENS = Flood((text("word ") * 25 + text("\n")), pause_s=PACE_S)
"""10,000 tokens a second."""
TURN_TOKENS = 5_000
CHARS = 4


def stored(folder: Path, name: str, records: list[Record]) -> None:
    """A session of these records."""
    database, now_ms = Database(folder), int(time.time() * 1000)
    rows = [StoredRecord(n, now_ms, 1.0, one) for n, one in enumerate(records, 1)]
    database.take(name, rows)
    database.close()


def many(folder: Path, count: int) -> None:
    """A store of so many sessions."""
    database, now_ms = Database(folder), int(time.time() * 1000)
    records: list[Record] = [
        Began("/projects/one", "app", "1"),
        TurnBegan(1, "make the cache safe", "fast", "quick-1", "main"),
        BlockSaid(0, 1, BlockKind.USER, "", "", "", "done", 0, "make the cache safe"),
        TurnEnded(1, "completed"),
    ]
    rows = [StoredRecord(n, now_ms, 1.0, one) for n, one in enumerate(records, 1)]
    for number in range(count):
        database.take(f"{number:08}", rows)
    database.close()


def painted(folder: Path, environment: dict[str, str]) -> float:
    """Seconds from the start until the prompt is there."""
    emulator, began_s = Emulator(), time.monotonic()
    with PseudoTerminal([*DUETTO, "."], environment, folder) as terminal:
        terminal.quits_with(b"\x11")
        while True:
            terminal.rest(0.002)
            for at_s, rows in emulator.changes(terminal.take()):
                if any("send" in row for row in rows):
                    return at_s - began_s


def first_paint(rounds: int, count: int) -> float:
    """How much later it comes over many sessions."""
    taken: tuple[list[float], list[float]] = [], []
    nobody = MODEL.format(port=9)
    with workplace(nobody) as (folder, none), workplace(nobody) as (other, environment):
        many(Path(environment["DUETTO_HOME"]) / "data", count)
        for number in range(rounds + 1):
            for times, place, home in zip(taken, (folder, other), (none, environment), strict=True):
                seconds = painted(place, home)
                times += [seconds] if number else []
    return statistics.median(taken[1]) / statistics.median(taken[0])


def echo(port: int, *, on: bool, typed_s: float) -> list[float]:
    """Milliseconds of each key, while the answer streams."""
    emulator = Emulator()
    settings = f"[store]\non = {str(on).lower()}{MODEL.format(port=port)}"
    with workplace(settings) as (folder, environment):
        with PseudoTerminal([*DUETTO, "."], environment, folder) as terminal:
            ready(terminal)
            ask(terminal, 2.0)
            pressed = pressed_keys(terminal, time.monotonic() + typed_s)
            waits = waits_ms(terminal, emulator, pressed)
        data = Path(environment["DUETTO_HOME"]) / "data"
        assert (data / FILE).exists() == on
    return waits


def key_echo(rounds: int, typed_s: float) -> float:
    """How much later keys show where the session is kept."""
    waits: dict[bool, list[float]] = {True: [], False: []}
    with flooding(TOKENS) as port:
        for number in range(2 * rounds):
            waits[number % 2 == 0] += echo(port, on=number % 2 == 0, typed_s=typed_s)
    medians = {on: statistics.median(found) for on, found in waits.items()}
    for on, found in waits.items():
        most = p95(sorted(found))
        print(f"  store {'on ' if on else 'off'}: median {medians[on]:.2f} ms, p95 {most:.2f} ms")
    return medians[True] / medians[False]


class Texts:
    """Words and code as people and models write them, of this repository."""

    def __init__(self) -> None:
        self._dice = random.Random(5)
        self._prose = "".join(one.read_text() for one in sorted((ROOT / "docs").glob("*.md")))
        self._code = "".join(one.read_text() for one in sorted((ROOT / "tui").rglob("*.py")))

    def prose(self, chars: int) -> str:
        return self._some(self._prose, chars)

    def code(self, chars: int) -> str:
        return self._some(self._code, chars)

    def _some(self, text: str, chars: int) -> str:
        """Pieces of about a line, from anywhere."""
        found: list[str] = []
        while chars > 0:
            at = self._dice.randrange(len(text) - 100)
            found.append(text[at : at + self._dice.randrange(30, 90)])
            chars -= len(found[-1])
        return "".join(found)


def day(folder: Path, tokens: int) -> float:
    """MB on the disk for so many tokens of output: half of it words, half patches, all accepted."""
    texts, hunk = Texts(), 0
    files = [texts.code(20_000).encode() for _ in range(50)]
    for session in range(-(-tokens // TURN_TOKENS // 50)):
        records: list[Record] = [Began("/projects/one", "app", "1")]
        for turn in range(1, 51):
            said = texts.prose(TURN_TOKENS * CHARS // 2)
            prompt = texts.prose(300)
            records.append(TurnBegan(turn, prompt, "fast", "quick-1", "main"))
            at, entry = 3 * (turn - 1), 4 * (turn - 1)
            for n, (kind, words) in enumerate(((BlockKind.USER, prompt), (BlockKind.TEXT, said))):
                records.append(BlockSaid(at + n, turn, kind, "", "", "", "done", 0, words))
                item = item_as_json({"type": "message", "content": [{"text": words}]})
                records.append(EntryMade(entry + n, float(entry + n), "output", "", item))
            head = item_as_json({"instructions": texts.prose(1000) if turn % 10 == 1 else ""})
            records += [BlobKept(sha_of(head), head), RequestSent(turn, turn, True, sha_of(head))]
            patch = ""
            for number in range(5):
                hunk += 1
                old, new = texts.code(1000), texts.code(TURN_TOKENS * CHARS // 10)
                patch += new
                place = hunk % len(files)
                before = files[place]
                cut = (hunk * 997) % (len(before) - 1000)
                after = files[place] = before[:cut] + new.encode() + before[cut + len(new) :]
                path = f"src/file_{place}.py"
                for moment, data in (("before", before), ("after", after)):
                    sha = sha_of(data)
                    records.append(BlobKept(sha, data))
                    records.append(
                        FileKept(turn, path, "before" if moment == "before" else "after", sha)
                    )
                kinds = Kind.EDIT, Stage.LANDED, Decision.PENDING
                made = HunkMade(hunk, turn, f"call_{turn}", path, *kinds, number, old, new)
                records.append(made)
                records.append(HunksAre((hunk,), Stage.LANDED, Decision.ACCEPTED, author="user"))
            item = item_as_json({"type": "custom_tool_call", "input": patch})
            records.append(EntryMade(entry + 2, entry + 2.0, "output", "", item))
            report = item_as_json({"type": "custom_tool_call_output", "output": texts.prose(400)})
            records.append(EntryMade(entry + 3, entry + 3.0, "answer", "", report))
            records.append(TurnEnded(turn, "completed"))
        stored(folder, f"{session:08}", records)
    return sum(one.stat().st_size for one in folder.rglob("*") if one.is_file()) / 1e6


def lines(folder: Path, count: int) -> None:
    """So many lines of words."""
    dice, words = random.Random(7), Texts().prose(400_000).split()
    for session in range(count // 10_000):
        records: list[Record] = [Began("/projects/one", "app", "1")]
        for at in range(250):
            said = "\n".join(" ".join(dice.choices(words, k=9)) for _ in range(40))
            said += f" needle{session}x{at}"
            records.append(BlockSaid(at, 1, BlockKind.TEXT, "", "", "", "done", 0, said))
        stored(folder, f"{session:08}", records)


def search(folder: Path) -> float:
    """The slowest of some searches, each the median of five, in milliseconds."""
    asked = ["needle7x33", "needle*", "the", "th", "the model", "session file e", "nothinglikeit"]
    slowest = 0.0
    for words in asked:
        taken = []
        for _ in range(5):
            began_s = time.perf_counter()
            found = reading.search(folder, words)
            taken.append((time.perf_counter() - began_s) * 1000)
        print(f"  {words:16} {statistics.median(taken):7.2f} ms, {len(found)} found")
        slowest = max(slowest, statistics.median(taken))
    return slowest


def long_session(folder: Path, work: Path, turns: int) -> None:
    """One of so many turns, each with words and an accepted hunk."""
    texts = Texts()
    records: list[Record] = [Began(str(work), "app", "1")]
    for turn in range(1, turns + 1):
        prompt, said = texts.prose(200), texts.prose(1_200)
        said += "\n\nthe very last words" * (turn == turns)
        records.append(TurnBegan(turn, prompt, "fast", "m", "here"))
        at = 3 * (turn - 1)
        blocks = ((BlockKind.USER, prompt), (BlockKind.PATCH, ""), (BlockKind.TEXT, said))
        for n, (kind, words) in enumerate(blocks):
            call = f"call_{turn}" * (kind is BlockKind.PATCH)
            records.append(BlockSaid(at + n, turn, kind, "", "fast", call, "done", 0, words))
        new = texts.code(400)
        items = (
            ("prompt", {"type": "message", "role": "user", "content": [{"text": prompt}]}),
            ("output", {"type": "custom_tool_call", "call_id": f"call_{turn}", "input": new}),
            (
                "answer",
                {"type": "custom_tool_call_output", "call_id": f"call_{turn}", "output": "x"},
            ),
            ("output", {"type": "message", "content": [{"text": said}]}),
        )
        for n, (what, item) in enumerate(items, 4 * turn):
            who = "here\tm" if what == "output" else ""
            records.append(EntryMade(n, float(n), what, who, item_as_json(dict(item)), turn))
        state = Kind.EDIT, Stage.LANDED, Decision.ACCEPTED
        records.append(HunkMade(turn, turn, f"call_{turn}", "a.py", *state, 1, "old\n", new))
        records.append(FileKept(turn, "a.py", "after", ""))
        records.append(TurnEnded(turn, "completed"))
    stored(folder, "longest0", records)


def resumed(turns: int, rounds: int) -> float:
    """Seconds from the command to the last words of a long session, the median."""
    taken = []
    with workplace(MODEL.format(port=9)) as (folder, environment):
        long_session(Path(environment["DUETTO_HOME"]) / "data", folder, turns)
        for _ in range(rounds):
            emulator, began_s = Emulator(), time.monotonic()
            with PseudoTerminal([*DUETTO, "resume", "longest0"], environment, folder) as terminal:
                terminal.quits_with(b"\x11")
                seen_s = 0.0
                while not seen_s:
                    terminal.rest(0.002)
                    for at_s, rows in emulator.changes(terminal.take()):
                        if any("the very last words" in row for row in rows):
                            seen_s = seen_s or at_s - began_s
            taken.append(seen_s)
    return statistics.median(taken)


def main(arguments: list[str] | None = None) -> int:
    """Measure, print, judge."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="less of everything, and rough")
    quick = parser.parse_args(arguments).quick

    def of_day() -> float:
        part = 10 if quick else 1
        with tempfile.TemporaryDirectory() as place:
            return day(Path(place), 10_000_000 // part) * part

    def of_search() -> float:
        with tempfile.TemporaryDirectory() as place:
            lines(Path(place), 100_000 if quick else 1_000_000)
            return search(Path(place))

    measures: list[Callable[[], float]] = [
        lambda: first_paint(3 if quick else 12, 1_000 if quick else 10_000),
        lambda: key_echo(1 if quick else 3, 3.0 if quick else 8.0),
        of_day,
        of_search,
        lambda: resumed(500 if quick else 5_000, 3 if quick else 5),
    ]
    over = False
    for (name, most), measured in zip(BUDGETS.items(), measures, strict=True):
        value = measured()
        over |= value > most
        print(f"{name}: {value:.2f} (at most {most:g}){'  BEYOND' * (value > most)}", flush=True)
    return int(over)


if __name__ == "__main__":
    sys.exit(main())
