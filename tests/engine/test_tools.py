from __future__ import annotations

import asyncio
import json
import threading

import pytest

from tests.support.fakes import World
from tests.support.tables import each
from tui.core.files import file_blocks
from tui.engine import tools
from tui.engine.open_files import FileIndex
from tui.engine.tools import (
    LIST_LIMIT,
    MATCH_LIMIT,
    OUTPUT_LIMIT_CHARS,
    CallError,
    ToolResult,
    WorkspaceTools,
    brief_call,
    finder,
    path_filter,
    searched,
)


class Bench:
    """The tools over a workspace in memory."""

    def __init__(self, files: dict[str, str | bytes], *, allows: bool = False) -> None:
        self.world = World(files)
        self.asked: list[str] = []
        self.allows = allows
        catalogue = FileIndex(self.world.files)
        self.tools = WorkspaceTools(
            self.world.session.workspace,
            catalogue,
            self.world.ports,
            catalogue.privacy,
            self._consent,
        )

    async def _consent(self, path: str, reason: str) -> bool:
        self.asked.append(path)
        return self.allows

    async def call(self, name: str, **arguments: object) -> ToolResult:
        return await self.tools.call(name, json.dumps(arguments))


async def test_an_open_buffer_is_read_as_it_stands() -> None:
    bench = Bench({"a.py": "one\n"})
    workspace = bench.world.session.workspace
    workspace.open("a.py")
    workspace.edit("a.py", (0, 0), (0, 3), "ONE")
    assert next(file_blocks((await bench.call("read_file", path="a.py")).output)).text == "ONE\n"


async def test_ranges_are_inclusive_and_told() -> None:
    bench = Bench({"a.py": "".join(f"{n}\n" for n in range(1, 11))})
    result = await bench.call("read_file", path="a.py", start=3, end=5)
    block = next(file_blocks(result.output))
    assert block.text == "3\n4\n5"
    assert block.attributes == {"from": "3", "to": "5"}
    assert "10 lines; go on with start=6" in result.output
    past = await bench.call("read_file", path="a.py", start=99)
    assert "only 10 lines" in past.output
    backwards = await bench.call("read_file", path="a.py", start=8, end=2)
    assert next(file_blocks(backwards.output)).text == "8"


async def test_long_files_are_bounded_and_say_how_to_go_on() -> None:
    bench = Bench({"a.py": "".join(f"line {n}\n" for n in range(20_000)), "b.js": "x" * 200_000})
    result = await bench.call("read_file", path="a.py")
    assert len(result.output) < OUTPUT_LIMIT_CHARS + 500
    block = next(file_blocks(result.output))
    following = int(block.attributes["to"]) + 1
    assert f"go on with start={following}" in result.output
    rest = await bench.call("read_file", path="a.py", start=following)
    assert next(file_blocks(rest.output)).text.startswith(f"line {following - 1}\n")
    minified = await bench.call("read_file", path="b.js")
    assert len(minified.output) < OUTPUT_LIMIT_CHARS + 500
    assert "too long" in minified.output


@each(
    "path, words",
    [
        ("gone.py", "no file"),
        ("folder", "folder"),
        ("bin", "UTF-8"),
        ("latin", "UTF-8"),
        ("../x", "outside"),
        ("/etc/passwd", "outside"),
        ("a/../../x", "outside"),
        ("~/x", "outside"),
        (".", "list"),
        ("", "string"),
        ("x" * 200_000, "the arguments are longer than 100,000 characters"),
    ],
)
async def test_what_cannot_be_read_is_explained(path: str, words: str) -> None:
    bench = Bench({"folder/a.py": "", "bin": b"\0\1", "latin": b"\xe9t\xe9"})
    result = await bench.call("read_file", path=path)
    assert result.failed
    assert words in result.output


async def test_private_files_need_a_yes() -> None:
    bench = Bench({".env": "KEY=1"})
    bench.world.files.private = {".env": "secrets"}
    assert "declined" in (await bench.call("read_file", path="./.env")).output
    bench.allows = True
    assert "KEY=1" in (await bench.call("read_file", path=".env")).output
    assert bench.asked == [".env", ".env"]
    assert (await bench.call("search", pattern="KEY")).output == "no line matches"
    assert ".env" not in (await bench.call("list")).output


async def test_listing_by_glob_and_folder() -> None:
    bench = Bench({"a.py": "", "src/b.py": "", "src/deep/c.py": "", "src/d.txt": ""})
    assert (await bench.call("list")).output == "a.py\nsrc/b.py\nsrc/d.txt\nsrc/deep/c.py"
    assert (await bench.call("list", pattern="src/*.py")).output == "src/b.py"
    assert (await bench.call("list", pattern="src/**/*.py")).output == "src/b.py\nsrc/deep/c.py"
    assert (await bench.call("list", pattern="*.py")).output == "a.py\nsrc/b.py\nsrc/deep/c.py"
    assert (await bench.call("list", pattern="src/deep/")).output == "src/deep/c.py"
    assert (await bench.call("list", pattern="nothing")).output == "no file matches"


async def test_long_listings_are_bounded() -> None:
    bench = Bench({f"f{n:05}.py": "" for n in range(LIST_LIMIT + 7)})
    assert "(7 more" in (await bench.call("list")).output


async def test_searching_text_and_patterns() -> None:
    bench = Bench({"a.py": "def f(x):\n    return x\n", "b/c.py": "f(1)\n", "bin": b"\0f(1)"})
    assert (await bench.call("search", pattern="f(1)")).output == "b/c.py:1: f(1)"
    found = await bench.call("search", pattern=r"^def \w+", regex=True)
    assert found.output == "a.py:1: def f(x):"
    assert found.brief == "1 match"
    assert (await bench.call("search", pattern="f(", path="b")).brief == "1 match"
    assert (await bench.call("search", pattern="(", regex=True)).failed


async def test_searches_are_bounded_in_matches_line_and_time() -> None:
    bench = Bench({"a.py": "x\n" * 5000, "b.js": "y" * 3000 + "needle" + "y" * 3000})
    output = (await bench.call("search", pattern="x")).output
    assert len(output.splitlines()) == MATCH_LIMIT + 1
    assert "narrower" in output
    assert len((await bench.call("search", pattern="needle")).output) < 600
    bench.world.clock.step_s = 3
    assert "stopped after 5 s" in (await bench.call("search", pattern="nothing")).output


@each("arguments", ["not json", "[1]", '{"path": 5}', '{"path":"a","start":"x"}'])
async def test_bad_arguments_are_explained(arguments: str) -> None:
    bench = Bench({"a": "x"})
    result = await bench.tools.call("read_file", arguments)
    assert result.failed
    assert result.output.startswith("error:")


async def test_an_unknown_tool_is_explained() -> None:
    assert "no tool 'shell'" in (await Bench({}).call("shell")).output


def test_calls_in_brief() -> None:
    assert brief_call("read_file", '{"path":"a.py","start":3,"end":9}') == "read_file a.py 3-9"
    assert brief_call("search", '{"pattern":"x","path":"src"}') == "search x src"
    assert brief_call("list", "{}") == "list"
    assert brief_call("list", "broken") == "list"
    assert brief_call("n" * 10**6, json.dumps({"path": "x" * 10**6})) == "n" * 200


ENDLESS, LINE = "(a|aa)+$", "a" * 60 + "b"


def never() -> bool:
    return False


async def test_the_loop_runs_on_while_a_pattern_takes_its_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(tools, "LINE_LIMIT_S", 0.3)
    find = finder(ENDLESS, regex=True)
    began, turns = threading.Event(), 0

    def noted(line: str) -> int:
        began.set()
        return find(line)

    looking = asyncio.create_task(searched("a.txt", [LINE], noted, never))
    while not looking.done():
        await asyncio.sleep(0)
        turns += began.is_set()
    with pytest.raises(CallError, match="takes too long"):
        await looking
    assert turns > 10


async def test_a_search_that_expires_gives_what_it_has() -> None:
    found = await searched("a.txt", ["x"] * 100, finder("x", regex=False), lambda: True)
    assert found == ["a.txt:1: x"]


@each("pattern", ["(", "a{2}{3}**", "[" * 501, "x" * 501])
def test_what_is_no_expression(pattern: str) -> None:
    with pytest.raises(CallError):
        finder(pattern, regex=True)


def test_path_patterns_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tools, "PATH_LIMIT_S", 0.001)
    fits = path_filter("*a" * 20 + "*b")
    with pytest.raises(CallError, match="takes too long"):
        fits("a" * 120)
    monkeypatch.setattr(tools, "PATH_LIMIT_S", 60.0)
    assert not path_filter("**/" * 30 + "x")("a/" * 50 + "y")
    assert path_filter("**/" * 30 + "x")("a/" * 50 + "x")
