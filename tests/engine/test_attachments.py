"""What is attached goes out once, as it stands, and as a difference when it changed."""

from __future__ import annotations

import asyncio
import json
import time
from typing import Any

from tests.support.fakes import World, settle
from tests.support.pictures import MemoryPictures
from tests.support.turns import begun, notes, outputs, update
from tui.core.compaction import Recollection
from tui.core.files import file_blocks
from tui.core.tokens import head_tokens, tokens_of
from tui.engine import intents
from tui.engine.ports import RoleSpec, RunResult

LINES = "".join(f"line {n}\n" for n in range(1, 41))
CACHE = """class Cache:
    def get(self, key):
        return self.items[key]

    def put(self, key):
        self.items[key] = 1


def main():
    pass
"""


def inputs(request: dict[str, Any]) -> list[str]:
    return ["".join(part["text"] for part in item["content"]) for item in request["input"]
            if item.get("role") == "user"]  # fmt: skip


def blocks(request: dict[str, Any]) -> list[tuple[str, str, str]]:
    """Path, lines and text of what a request quotes."""
    return [
        (one.path, "-".join(one.attributes.get(name, "") for name in ("from", "to")), one.text)
        for text in inputs(request)
        for one in file_blocks(text)
    ]


async def ask(place: World, text: str) -> dict[str, Any]:
    (await begun(place, text)).finishes("yes")
    await settle()
    return place.wire.requests[-1]


def troubles(place: World) -> str:
    return "\n".join(f"{one.what}: {one.why}" for one in place.session.drain().troubles)


async def test_a_file_is_sent_once_and_then_what_changed_in_it() -> None:
    place = World({"a.py": LINES})
    request = await ask(place, "look at @a.py, then wait")
    assert blocks(request) == [("a.py", "-", LINES)]
    assert 'state="attached"' in str(inputs(request))
    assert "Attached: a.py (about 142 tokens)" in notes(place)
    assert blocks(await ask(place, "and now?")) == []
    assert "a.py" not in str(inputs(place.wire.requests[-1]))
    place.session.workspace.edit("a.py", (19, 0), (19, 0), "new ")
    said = inputs(await ask(place, "again @a.py"))
    assert said == ["The user edited meanwhile:\na.py at line 20:\n-line 20\n+new line 20",
                    "again @a.py"]  # fmt: skip
    assert inputs(await ask(place, "and again")) == ["and again"]


async def test_an_open_file_is_sent_once_and_then_what_changed_in_it() -> None:
    place = World({"a.py": LINES})
    place.session.submit(intents.OpenFile("a.py"))
    assert blocks(await ask(place, "look")) == [("a.py", "-", LINES)]
    place.session.workspace.edit("a.py", (19, 0), (19, 0), "new ")
    assert inputs(await ask(place, "again")) == [
        "The user edited meanwhile:\na.py at line 20:\n-line 20\n+new line 20",
        "a.py is as you last saw it, with the changes told above (active).",
        "again",
    ]
    model = await begun(place, "and you?")
    model.patch(update("a.py", "-line 2", "+line two"), "call_1")
    count = len(place.wire.requests)
    model.complete()
    await place.wire.request(count + 1)
    model.answers("Done.")
    await settle()
    (found,) = blocks(await ask(place, "see?"))
    assert found == ("a.py", "-", "@@ -2,1 +2,1 @@\n-line 2\n+line two\n")
    place.wire.lose()
    assert "unchanged" in str(inputs(await ask(place, "on another chain")))


async def test_in_a_small_window_the_part_around_the_cursor_is_sent_and_it_is_said() -> None:
    text = "".join(f"line {n}\n" for n in range(1, 4001))
    role = RoleSpec("fast", "quick-1", "main", context_window=4000)
    place = World({"a.py": text, "b.py": text}, roles={"fast": role})
    place.session.submit(intents.OpenFile("a.py"))
    place.session.cursor("a.py", (2000, 0))
    (found,) = blocks(await ask(place, "look"))
    first, last = map(int, found[1].split("-"))
    assert first < 2001 < last < 3000
    told = f"of a.py lines {first:,}-{last:,} of 4,001 are sent; the model can read the others"
    assert told in notes(place)
    request = await ask(place, "and @b.py")
    assert [path for path, *_ in blocks(request)] == ["a.py", "b.py"][-len(blocks(request)) :]
    assert "of b.py lines 1-" in "\n".join(notes(place))
    assert "too large" not in "\n".join(notes(place))


async def test_a_file_that_is_gone_or_no_text_any_more_is_told_once_and_comes_back() -> None:
    place = World({"a.py": LINES})
    await place.runs()
    await ask(place, "look at @a.py")

    async def becomes(data: bytes | None) -> list[str]:
        if data is None:
            del place.files.data["a.py"]
        else:
            place.files.data["a.py"] = data
        place.changed_outside("a.py")
        await settle()
        return inputs(await ask(place, "now"))[:-1]

    assert await becomes(None) == ["Files that are gone: a.py"]
    assert inputs(await ask(place, "and now")) == ["and now"]
    (told,) = await becomes(LINES.replace("line 7\n", "line seven\n").encode())
    assert "New files: a.py" in told
    (told,) = await becomes(b"\x00\x01\x02")
    assert told.startswith("a.py is attached but cannot be quoted: 'a.py' is a binary file (3 B)")
    assert inputs(await ask(place, "and now")) == ["and now"]


async def test_of_other_line_endings_one_sentence_is_told() -> None:
    place = World({"a.py": LINES.replace("\n", "\r\n")})
    await place.runs()
    await ask(place, "look at @a.py")
    place.files.data["a.py"] = LINES.encode()
    place.changed_outside("a.py")
    await settle()
    assert inputs(await ask(place, "now"))[:-1] == [
        "Another program changed this on the disk; the user did not:\n"
        "a.py at line 1: of 40 lines only the endings changed, from CRLF to LF"
    ]
    assert inputs(await ask(place, "and now")) == ["and now"]


async def test_lines_of_a_file_are_sent_and_only_they_count() -> None:
    place = World({"a.py": LINES})
    request = await ask(place, "@a.py:3-5")
    assert blocks(request) == [("a.py", "3-5", "line 3\nline 4\nline 5")]
    place.session.workspace.edit("a.py", (30, 0), (30, 0), "far away ")
    assert blocks(await ask(place, "more")) == []


async def test_lines_that_are_attached_move_with_their_text() -> None:
    place = World({"a.py": LINES})
    await ask(place, "@a.py:3-5")
    place.session.workspace.edit("a.py", (0, 0), (0, 0), "above\n")
    place.session.workspace.edit("a.py", (3, 0), (3, 0), "just above\n")
    (told, _) = inputs(await ask(place, "more"))
    assert told.startswith("The user edited meanwhile:\na.py at line 1:\n+above")
    place.session.workspace.edit("a.py", (5, 0), (5, 4), "LINE")
    place.session.submit(intents.Switch("deep"))
    sent = blocks(await ask(place, "all anew"))
    assert sent == [("a.py", "5-7", "line 3\nLINE 4\nline 5")]
    place.session.submit(intents.ShowContext())
    await settle()
    assert "  a.py:5-7, attached" in notes(place)[-1]
    place.session.submit(intents.DropPart("a.py:5-7"))
    await settle()
    assert place.session.attachments.dropped == {"a.py:3-5"}
    assert blocks(await ask(place, "and now")) == []
    assert blocks(await ask(place, "again @a.py:3-5")) == [
        ("a.py", "3-5", "line 2\njust above\nline 3")
    ]


async def test_a_folder_and_a_symbol_and_the_selection() -> None:
    place = World({"src/a.py": "a\n", "src/b.py": "b\n", "c.py": CACHE, "logo.png": b"\x89PNG\0"})
    place.session.submit(intents.OpenFile("c.py"))
    request = await ask(place, "@src and @Cache.put")
    assert {path for path, *_ in blocks(request)} == {"src/a.py", "src/b.py", "c.py"}
    place.session.submit(intents.CloseFile("c.py"))
    (found,) = blocks(await ask(place, "again"))
    assert found == ("c.py", "5-6", "    def put(self, key):\n        self.items[key] = 1")
    place.session.submit(intents.OpenFile("src/b.py"))
    place.session.cursor("src/b.py", (0, 1), ((0, 0), (0, 1)))
    await ask(place, "@selection")
    assert "src/b.py:1" in "\n".join(notes(place))


async def test_the_folder_of_the_workspace_is_attached_by_a_dot() -> None:
    place = World({"src/a.py": "a\n", "c.py": "c\n"})
    for name in (".", "./"):
        assert {path for path, *_ in blocks(await ask(place, f"look at @{name}"))} == {
            "src/a.py", "c.py"}  # fmt: skip
        assert "Attached: ./ (2 files, about 4 tokens)" in notes(place)
        place.session.submit(intents.NewConversation())
        await settle()
    place = World({})
    await ask(place, "look at @.")
    assert "@. was not attached: there is no file in the workspace" in troubles(place)


async def test_lines_that_hold_nothing_are_not_attached() -> None:
    place = World({"a.py": "a\n\n\nb\n"})
    for lines in ("5", "2-3", "9"):
        assert blocks(await ask(place, f"@a.py:{lines}")) == []
    told = troubles(place)
    assert "@a.py:5 was not attached: nothing is in line 5 of a.py" in told
    assert "@a.py:2-3 was not attached: nothing is in lines 2-3 of a.py" in told
    assert "@a.py:9 was not attached: a.py ends at line 5" in told


async def test_what_cannot_be_attached_is_said_in_a_sentence() -> None:
    utf16 = "hi".encode("utf-16")
    place = World({"tool.exe": b"MZ\0\0", "u.txt": utf16, "a.py": "a\n", ".env": "KEY=1"})
    for name, why in (
        ("tool.exe", "is an EXE program (4 B)\n"),
        ("u.txt", "'u.txt' is UTF-16, not UTF-8\n"),
        ("gone.py", "there is no file 'gone.py'"),
        ("../up.py", "outside the workspace"),
        ("a.py:7-9", "ends at line 2"),
        ("..", "outside the workspace"),
        ("/", "outside the workspace"),
        ("~", "outside the workspace"),
        ("selection", "nothing is selected"),
        ("failures", "no run of the tests has failed"),
    ):
        request = await ask(place, f"look at @{name}")
        told = troubles(place)
        assert f"@{name} was not attached" in told, name
        assert why in f"{told}\n", told
        assert blocks(request) == []
    await ask(place, "@gone.py and @selection")
    (told,) = troubles(place).splitlines()
    assert told.startswith("@gone.py, @selection were not attached: there is no file 'gone.py'; n")
    assert notes(place)[-1] == told, "it stays to be read"
    await ask(place, "use @property and @dataclass")
    assert "attached" not in troubles(place)


async def test_a_prompt_that_never_went_leaves_nothing_to_be_sent_twice() -> None:
    place = World({"a.py": LINES})
    states = iter(("--- older", "--- newer"))

    async def made() -> str:
        return next(states)

    place.session.attachments.makers["diff"] = made
    kept = place.session.services.state.witness.kept

    async def slowly() -> None:
        place.session.submit(intents.Interrupt())
        await asyncio.sleep(0)

    place.session.services.state.witness.kept = slowly
    place.session.submit(intents.Prompt("look at @diff"))
    await settle()
    assert place.session.status.unsent == "look at @diff"
    place.session.services.state.witness.kept = kept
    said = str(inputs(await ask(place, place.session.status.unsent)))
    assert "--- newer" in said
    assert "--- older" not in said


async def test_what_a_prompt_names_is_attached_once_while_a_connection_is_prepared_beside_it() -> (
    None
):
    place = World({"a.py": LINES})
    may = asyncio.Event()

    async def made() -> str:
        await may.wait()
        return "--- a"

    place.session.attachments.makers["diff"] = made
    place.session.submit(intents.Prompt("see @diff and @gone.py"))
    await settle()
    beside = asyncio.create_task(place.session.services.open_files.prepare())
    await settle()
    may.set()
    await beside
    await place.wire.request(1)
    assert len([one for one in notes(place) if one.startswith("Attached")]) == 1
    assert len(troubles(place).splitlines()) == 1


async def test_what_was_made_for_a_prompt_that_was_refused_is_not_sent_beside_a_newer_one() -> None:
    role = RoleSpec("fast", "quick-1", "main", context_window=3000)
    place = World({"a.py": LINES}, roles={"fast": role})
    states = iter(("--- older" + " x" * 9000, "--- newer"))

    async def made() -> str:
        return next(states)

    place.session.attachments.makers["diff"] = made
    place.session.submit(intents.Pin("never touch the API"))
    place.session.submit(intents.Prompt("look at @diff"))
    await settle()
    assert "too large" in "\n".join(notes(place))
    said = str(inputs(await ask(place, place.session.status.unsent)))
    assert "--- newer" in said
    assert "--- older" not in said
    assert said.count("never touch the API") == 1


async def test_lines_that_are_quoted_beside_what_the_user_wrote_attach_nothing() -> None:
    place = World({"a.py": "@b.py\ndef f():\n    pass\n", "b.py": "b\n", "c.py": "c\n"})
    place.session.submit(intents.OpenFile("a.py"))
    place.session.submit(intents.AskChange("a.py", (0, 0), (1, 8), "make it like @c.py"))
    request = await place.wire.request(1)
    assert [path for path, *_ in blocks(request)] == ["a.py", "c.py", "a.py"]
    assert not troubles(place)


async def test_the_last_failure_is_attached_once() -> None:
    place = World({"a.py": "a\n"})
    place.runner.output, place.runner.result = ["E   assert 1 == 2\n"], RunResult(1, 0.5)
    place.session.submit(intents.Verify())
    await settle()
    request = await ask(place, "why? @failures")
    assert "Attached by the user: @failures" in str(inputs(request))
    assert "assert 1 == 2" in str(inputs(request))


async def test_what_is_offered_behind_the_sign() -> None:
    place = World({"src/a.py": CACHE, "src/deep/b.py": "b\n", "docs/c.md": "c\n"})
    place.session.submit(intents.OpenFile("src/a.py"))
    await ask(place, "hello")
    attachments = place.session.attachments
    assert [name for name, _ in attachments.offered("")] == ["diff", "failures", "selection"]
    assert attachments.offered("s")[1:] == [("src/", "folder, 2 files")]
    assert attachments.offered("src/") == [("src/deep/", "folder, 1 file")]
    assert attachments.offered("pu") == [("put", "~14 tokens, def in line 5 of the active file")]
    assert attachments.sizes(["src/a.py", "docs/c.md"]) == {"src/a.py": 38}
    root = place.files.root
    assert attachments.pasted(f"{root}/docs/c.md\n") == ["docs/c.md"]
    assert attachments.pasted(f"'{root}/docs'") == ["docs/"]
    assert attachments.pasted("a word") == attachments.pasted("word") == []
    assert attachments.pasted("/elsewhere/c.md") == attachments.pasted("/elsewhere/c.png") == []
    place.ports.pictures = lambda: MemoryPictures(**{"c.png": b""})
    assert attachments.pasted(f"/elsewhere/c.png '{root}/docs/c.md'") == [
        "/elsewhere/c.png",
        "docs/c.md",
    ]


async def test_context_says_what_is_sent_and_a_part_can_be_left_out() -> None:
    place = World({"a.py": LINES, "b.py": CACHE})
    place.session.submit(intents.OpenFile("a.py"))
    await ask(place, "with @b.py")
    place.session.submit(intents.ShowContext())
    await settle()
    said = notes(place)[-1]
    for words in (
        "instructions\n",
        "listing\n",
        "tools\n",
        "162  a.py, open\n",
        "b.py, attached\n",
        "your prompts\n",
        "answers, new\n",
        "in all, ",
    ):
        assert words in said, said
    place.session.submit(intents.DropPart("a.py"))
    await settle()
    assert notes(place)[-1].startswith("Left out from now on: a.py (")
    place.session.submit(intents.ShowContext())
    await settle()
    assert "a.py, open" not in notes(place)[-1]
    assert "left out: a.py" in notes(place)[-1]
    request = await ask(place, "go on")
    assert "previous_response_id" not in request
    assert [path for path, *_ in blocks(request)] == ["b.py"]
    place.session.workspace.edit("a.py", (0, 0), (0, 0), "typed later ")
    assert inputs(await ask(place, "go on, please"))[-1] == "go on, please"
    assert "typed later" not in str(place.wire.requests[-1])
    place.session.submit(intents.DropPart("nothing.py"))
    await settle()
    assert "these can be left out: b.py, listing, AGENTS.md" in troubles(place)
    place.session.submit(intents.DropPart("listing"))
    await settle()
    place.session.submit(intents.DropPart("listing"))
    await settle()
    assert notes(place)[-1] == "It is left out already: listing"
    request = await ask(place, "and without the list")
    assert "are not listed here" in request["instructions"]
    place.session.submit(intents.AddPart("listing"))
    await settle()
    assert notes(place)[-1].startswith("Sent again from now on: listing; ")
    request = await ask(place, "and with it")
    assert "are not listed here" not in request["instructions"]
    place.session.submit(intents.AddPart("listing"))
    await settle()
    assert "left out are: a.py" in troubles(place)
    # named again it is back
    assert "a.py" in [path for path, *_ in blocks(await ask(place, "but @a.py"))]


async def test_context_says_as_many_tokens_as_the_next_request_has() -> None:
    place = World({
        "AGENTS.md": "rule words here\n" * 400, "src/AGENTS.md": "inner rule words\n" * 300,
        "src/a.py": LINES * 4, "b.py": CACHE * 3, **{f"file {n}.py": "x\n" for n in range(300)},
    })  # fmt: skip

    async def differs() -> tuple[int, dict[str, Any]]:
        place.session.submit(intents.ShowContext())
        await settle()
        said = int(notes(place)[-1].partition("about ")[2].split()[0].replace(",", ""))
        request = await ask(place, "x")
        assert "previous_response_id" not in request
        return said - head_tokens(request) - sum(map(tokens_of, request["input"])), request

    def is_right(off: int) -> bool:
        return -20 <= off <= 5

    place.session.submit(intents.OpenFile("src/a.py"))
    assert is_right((await differs())[0]), "the first one has both AGENTS.md"
    await ask(place, "look at @b.py")
    names = ("listing", "AGENTS.md", "b.py", "src/a.py")
    for change in (*map(intents.DropPart, names), *map(intents.AddPart, names)):
        place.session.submit(change)
        await settle()
        told, (off, request) = notes(place)[-1], await differs()
        assert is_right(off), change
        if isinstance(change, intents.AddPart):
            told = told.partition("anew, ")[2].split()[0].replace(",", "")
            real = head_tokens(request) + sum(map(tokens_of, request["input"]))
            assert is_right(int(told) - real), change
    place.session.submit(intents.ShowContext())
    await settle()
    assert "AGENTS.md\n" in notes(place)[-1]
    place.session.submit(intents.Switch("deep"))
    off, _ = await differs()
    assert "in all, new" in notes(place)[-1], "another model was sent nothing"
    assert is_right(off)


async def test_names_with_blanks_are_pinned_and_left_out_with_quotes_and_without() -> None:
    place = World({"my notes.md": LINES, "my dir/a.py": CACHE, "my dir/b.py": "b\n"})

    async def does(*wanted: intents.Intent) -> str:
        for one in wanted:
            place.session.submit(one)
            await settle()
        return notes(place)[-1] if notes(place) else ""

    for name in ("my notes.md", "@my notes.md", '@"my notes.md"'):
        assert (await does(intents.Pin(name))).startswith("Pinned: my notes.md (about"), name
        place.session.attachments.pins.clear()
    assert (await does(intents.Pin("@my dir/"))).startswith("Pinned: my dir/ (2 files")
    assert [*place.session.attachments.pins] == ["my dir/a.py", "my dir/b.py"]
    assert "my dir is kept in mind" in await does(intents.Pin("my dir is kept in mind"))
    await does(intents.DropPart('"my notes.md"'), intents.DropPart('@"my dir"'))
    assert notes(place)[-1].startswith('Left out from now on: @"my dir" (')
    assert place.session.attachments.dropped == {"my notes.md", "my dir/a.py", "my dir/b.py"}
    assert await does(intents.DropPart('"my notes.md":2-4')) == (
        'It is left out already: "my notes.md":2-4'
    )
    await does(intents.AddPart('@"my dir"'), intents.AddPart('"my notes.md"'))
    assert not place.session.attachments.dropped


async def test_a_name_that_ends_as_lines_do_is_attached() -> None:
    place = World({"log:10-20": "text\n", "a.py": LINES, "a.py:3": "other\n"})
    sent = blocks(await ask(place, '@log:10-20 and @a.py:3, not @"log:10-20"'))
    assert sent == [("a.py", "3-3", "line 3"), ("log:10-20", "-", "text\n")]


async def test_a_folder_is_left_out_and_sent_again_with_its_files() -> None:
    place = World({"src/a.py": LINES, "src/b.py": CACHE, "c.py": "c\n"})
    await ask(place, "look at @src, @src/b.py:1-2 and @c.py")
    place.session.submit(intents.DropPart("src"))
    await settle()
    assert notes(place)[-1].startswith("Left out from now on: src (2")
    assert [path for path, *_ in blocks(await ask(place, "and now?"))] == ["c.py"]
    place.session.submit(intents.AddPart("@src/"))
    await settle()
    assert {path for path, *_ in blocks(await ask(place, "again"))} == {
        "c.py", "src/a.py", "src/b.py"}  # fmt: skip


async def test_an_attachment_that_was_left_out_and_added_is_sent_again() -> None:
    place = World({"a.py": LINES, "b.py": "b\n"})
    await ask(place, "look at @a.py:3-4, @a.py:8 and @b.py")
    for pin in ("@a.py:8", "@b.py"):
        place.session.submit(intents.Pin(pin))
        await settle()
    for name, left in (("a.py:3-4", ["8-8", "-"]), ("a.py", ["-"]), ("b.py", [])):
        place.session.submit(intents.DropPart(name))
        await settle()
        assert [lines for _, lines, _ in blocks(await ask(place, "and now"))] == left
    assert place.session.attachments.pins == []
    for name in ("a.py", "a.py:3-4", "b.py"):
        place.session.submit(intents.AddPart(name))
        await settle()
    sent = [(path, lines) for path, lines, _ in blocks(await ask(place, "and with them"))]
    assert sent == [("a.py", "3-4"), ("a.py", "8-8"), ("b.py", "-")]
    place.session.submit(intents.DropPart("a.py"))
    await settle()
    sent = [(path, lines) for path, lines, _ in blocks(await ask(place, "only @a.py:5"))]
    assert sent == [("a.py", "5-5"), ("b.py", "-")], "what is named comes back, and no more"


async def test_results_of_calls_and_a_difference_can_be_left_out_of_what_was_said() -> None:
    place = World({"a.py": LINES, "b.py": "b\n", "c.py": "short"})

    async def made() -> str:
        return "--- a difference"

    place.session.attachments.makers["diff"] = made
    model = await begun(place, "look at @diff")
    count = len(place.wire.requests)
    model.call("read_file", {"path": "a.py"}, "call_a")
    model.call("read_file", {"path": "c.py"}, "call_c")
    model.call("apply_patch", {"input": update("b.py", "-b", *["+b" * 99] * 9)}, "call_p")
    model.complete()
    await place.wire.request(count + 1)
    model.answers("Read.")
    await settle()
    for name in ("results of calls", "@diff"):
        place.session.submit(intents.DropPart(name))
        await settle()
        assert f"Left out from now on: {name} (" in notes(place)[-1]
        place.session.submit(intents.DropPart(name))
        await settle()
        assert f"{name} was not dropped" in troubles(place)
    request = await ask(place, "and now")
    assert "--- a difference" not in str(request)
    said = outputs(request)
    assert said["call_a"] == "left out by the user: call it again if it is needed"
    assert "short" in said["call_c"], "what is short costs nothing"
    assert "hunk 1" in said["call_p"]
    found = await place.session.compaction().recall(Recollection("line 17"))
    assert "line 17" in found


async def test_what_is_pinned_outlives_the_conversation() -> None:
    place = World({"a.py": LINES, "my file.md": "hello\n"})
    place.session.submit(intents.Pin('@"my file.md"'))
    await settle()
    place.session.submit(intents.DropPart("my file.md"))
    await settle()
    place.session.submit(intents.Pin("a.py"))
    place.session.submit(intents.Pin("never touch the public API"))
    await settle()
    request = await ask(place, "go")
    assert blocks(request) == [("a.py", "-", LINES)]
    assert "never touch the public API" in str(inputs(request))
    place.session.submit(intents.NewConversation())
    request = await ask(place, "anew")
    assert blocks(request) == [("a.py", "-", LINES)]
    assert "never touch the public API" in str(inputs(request))
    place.session.submit(intents.DropPart("a.py"))
    await settle()
    assert blocks(await ask(place, "without it")) == []
    place.session.submit(intents.DropPart("never touch the public API"))
    await settle()
    assert notes(place)[-1] == "Not pinned any more: never touch the public API"
    assert "no longer to be kept in mind" in str(inputs(await ask(place, "do")))
    place.session.submit(intents.NewConversation())
    assert "never touch the public API" not in str(await ask(place, "anew"))


async def test_what_cannot_be_attached_for_good_is_not_pinned_as_words() -> None:
    place = World({"a.py": "a\n", "shots/one.png": b"\x89PNG\0"})
    for words, why in (
        ("shots", "no file in it can be sent"),
        ("@shots/", "no file in it can be sent"),
        ("@diff", "it is made anew for each prompt"),
        ("@selection", "it is made anew for each prompt"),
    ):
        place.session.submit(intents.Pin(words))
        await settle()
        assert f"{words} was not pinned: {why}" in troubles(place)
    assert place.session.attachments.pins == []
    place.session.submit(intents.Pin("diff"))
    await settle()
    assert place.session.attachments.pins == ["diff"], "that is a word"


async def test_a_folder_whose_files_are_attached_already_is_pinned() -> None:
    place = World({"src/a.py": "a\n", "src/b.py": "b\n", "c.py": "c\n"})
    await ask(place, "look at @src/a.py and @c.py")
    place.session.submit(intents.Pin("src"))
    await settle()
    assert sorted(place.session.attachments.pins) == ["src/a.py", "src/b.py"]
    place.session.submit(intents.Pin("src/a.py:1"))
    await settle()
    assert sorted(place.session.attachments.pins) == ["src/a.py", "src/a.py:1", "src/b.py"]


async def test_words_that_were_not_sent_yet_are_unpinned_without_a_word() -> None:
    place = World({"a.py": LINES})
    place.session.submit(intents.Pin("never touch the public API"))
    await settle()
    place.session.submit(intents.DropPart("never touch the public API"))
    await settle()
    assert "the public API" not in str(await ask(place, "go"))


async def test_a_hundred_files_that_are_unchanged_are_looked_at_by_their_revisions_only() -> None:
    place = World({f"src/f{n:03}.py": LINES * 5 for n in range(100)})
    request = await ask(place, "@src")
    assert len(blocks(request)) == 100
    requests = place.session.services.requests
    began = time.perf_counter()
    files = requests.shown_files()
    message = requests._context.message(files, full=False)
    print(f"{(time.perf_counter() - began) * 1000:.2f} ms")
    assert message == ""
    assert len(json.dumps(await ask(place, "next"))) < 20_000


async def test_what_turns_that_were_rewound_attached_goes_with_them_and_comes_back() -> None:
    place = World({"a.py": LINES, "b.py": "b\n", "c.py": "c\n"})
    await ask(place, "hello, with @b.py")
    await ask(place, "look at @a.py and @b.py")
    place.session.submit(intents.Pin("c.py"))
    await settle()
    await ask(place, "look at @c.py")
    place.session.submit(intents.Rewind(2, 0, "talk"))
    await settle()
    assert [path for path, *_ in blocks(await ask(place, "differently"))] == ["b.py", "c.py"]


async def test_what_was_attached_comes_back_with_its_turn() -> None:
    place = World({"a.py": LINES})
    await ask(place, "hello")
    await ask(place, "look at @a.py")
    place.session.submit(intents.Rewind(2, 0, "talk"))
    await settle()
    place.session.submit(intents.Forward())
    await settle()
    assert blocks(await ask(place, "and now")) == [("a.py", "-", LINES)]
