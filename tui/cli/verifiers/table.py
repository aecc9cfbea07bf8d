"""The table of verifiers, ``verifiers.toml``, which says what its fields mean."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from tui.core.run_report import OutputFormat

Row = Mapping[str, Any]


@cache
def table() -> Mapping[str, Any]:
    """What ``verifiers.toml`` says."""
    return tomllib.loads(Path(__file__).with_name("verifiers.toml").read_text("utf-8"))


@cache
def formats() -> dict[str, OutputFormat]:
    """How runners' output looks, by the name of the format."""

    def compiled(row: Row, name: str) -> tuple[re.Pattern[str], ...]:
        return tuple(re.compile(one, re.M) for one in row.get(name, ()))

    def one(row: Row, name: str) -> re.Pattern[str] | None:
        return re.compile(row[name], re.M) if name in row else None

    return {
        row["name"]: OutputFormat(
            row["name"],
            re.compile(row["begin"], re.M),
            compiled(row, "place"),
            compiled(row, "message"),
            one(row, "title"),
            one(row, "end"),
            bool(row.get("last_place")),
            one(row, "summary"),
            bool(row.get("every")),
            one(row, "total"),
            one(row, "passed"),
            one(row, "failures"),
            one(row, "skipped"),
            bool(row.get("certain")),
            compiled(row, "progress"),
        )
        for row in table()["format"]
    }
