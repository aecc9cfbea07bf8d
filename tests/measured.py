"""What was measured, for README.md and docs/measured.md: ``python -m tests.measured``.

Writes the table and the pictures of what stands in ``tests/measured.toml`` and, of
``python -m tests.benchmarks gap``, in ``tests/benchmarks/gap/*.json``; so does its ``--publish``.
"""

from __future__ import annotations

import datetime
import re
from pathlib import Path

import msgspec
from msgspec import Struct

from tests.support.charts import Bars
from tests.support.sources import ROOT

README, PAGE = ROOT / "README.md", ROOT / "docs" / "measured.md"
PICTURES = ROOT / "docs" / "pictures"
DATA = Path(__file__).with_name("measured.toml")
PUBLISHED = Path(__file__).with_name("benchmarks") / "gap"


class Measured(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One figure, or what belongs together."""

    name: str
    what: str
    figure: str
    command: str
    """Behind ``python -m tests.benchmarks``."""
    date: datetime.date
    machine: str
    title: str = ""
    """Of its picture; empty: its command draws one."""
    unit: str = ""
    groups: dict[str, dict[str, float]] = {}

    @property
    def row(self) -> str:
        """In the table."""
        cells = (self.what, self.figure, f"`{self.command}`", f"{self.date}, {self.machine}")
        return f"| {' | '.join(cells)} |"

    @property
    def picture(self) -> str:
        """Its SVG."""
        below = f"{self.date}, {self.machine}: python -m tests.benchmarks {self.command}"
        return Bars(self.title, self.unit, self.groups, below).svg()


def load() -> list[Measured]:
    """All of them."""
    found = msgspec.toml.decode(DATA.read_bytes(), type=dict[str, list[Measured]])["measured"]
    for path in sorted(PUBLISHED.glob("*.json")):
        found.append(msgspec.json.decode(path.read_bytes(), type=Measured))
    return found


def with_part(text: str, name: str, body: str) -> str:
    """A text with another body between the marks of a part."""
    marks = rf"(<!-- {name}: [^\n]*-->\n).*?(?=<!-- end of {name} -->)"
    return re.sub(marks, lambda found: f"{found[1]}{body}\n", text, flags=re.S)


def with_table(text: str) -> str:
    """A text with its table as the figures are now."""
    head = ["| | | `python -m tests.benchmarks` | when, where |", "|---|---|---|---|"]
    return with_part(text, "measured", "\n".join([*head, *(one.row for one in load())]))


def pictures() -> dict[Path, str]:
    """All pictures that are made here."""
    drawn = [one for one in load() if one.title]
    return {PICTURES / f"measured-{one.name}.svg": one.picture for one in drawn}


def write() -> None:
    """Bring table and pictures up to date."""
    README.write_text(with_table(README.read_text()))
    for path, svg in pictures().items():
        path.write_text(svg, encoding="utf-8")


def publish(part: str, text: str, row: Measured) -> None:
    """Keep what a part of ``gap`` found, and show it."""
    shown = msgspec.json.format(msgspec.json.encode(row))
    (PUBLISHED / f"{part}.json").write_bytes(shown + b"\n")
    PAGE.write_text(with_part(PAGE.read_text(), f"gap {part}", text))
    write()


if __name__ == "__main__":
    write()
