"""Names without an extension: what is a file of the workspace is a name, whatever it looks like."""

from __future__ import annotations

from tests.support.patches import Disk
from tests.support.tables import each
from tui.core.document.hunk import Stage
from tui.core.edit_stream import Channel, Format
from tui.core.patches.landing import Landing

FORMS = ["{}", "{}:", "### {}", "**{}**", "`{}`", "`{}`:", "File: {}", "Now `{}`:", "# {}"]
BLOCK = "<<<<<<< SEARCH\n{}=======\n{}>>>>>>> REPLACE\n"
FIRST = "a.md\n```\n" + BLOCK.format("q\n", "Q\n") + "```\n\n"


def land(place: Disk, text: str, fmt: Format, channel: Channel = "custom") -> Landing:
    place.workspace.documents.names = lambda: sorted(place.files)
    landing = Landing(
        place.workspace,
        turn=1,
        call_id="x",
        channel=channel,
        fmt=fmt,
    )
    for char in text:
        landing.feed(char)
        landing.tail()
    landing.finish(cut=False)
    place.write(place.workspace.accept())
    return landing


@each("form", FORMS)
@each("name", ["bin/run", "Makefile", "CHANGES", "sub/Rakefile", "new.py"])
def test_a_new_file_is_made_by_an_empty_search(name, form):
    place = Disk({"a.md": b"q\n"})
    land(place, FIRST + form.format(name) + "\n```\n" + BLOCK.format("", "x\n") + "```\n", "auto")
    assert place.files == {"a.md": b"Q\n", name: b"x\n"}


@each("search", ["", "version 1\n"])
@each("line", ["run", "`run`", "File: run", "src/", "bin/rum"])
def test_a_name_that_is_none_is_refused_and_said(line, search):
    """Nor does its text land in the file of the block before."""
    if not search and line == "bin/rum":
        return
    place = Disk({"a.md": b"q\nversion 1\n", "bin/run": b"version 1\n"})
    if "run" in line:
        del place.files["bin/run"]
    before = dict(place.files)
    text = FIRST + line + "\n```\n" + BLOCK.format(search, "version 2\n") + "```\n"
    landing = land(place, text, "search_replace")
    assert [hunk.stage for hunk in landing.hunks] == [Stage.LANDED, Stage.REFUSED]
    assert landing.hunks[1].reason
    assert place.files == before | {"a.md": b"Q\nversion 1\n"}


@each("line", ["Then:", "And now the version:", "", "**Next**"])
def test_prose_above_a_block_leaves_it_with_the_file_before(line):
    place = Disk({"a.md": b"q\nversion 1\n"})
    block = BLOCK.format("version 1\n", "version 2\n")
    land(place, f"{FIRST}{line}\n```\n{block}```\n", "search_replace")
    assert place.files == {"a.md": b"Q\nversion 2\n"}


@each("above", ["", "a.py\n```\ny\n```\n\n", "run\n"])
def test_a_whole_file_that_is_named_nowhere_is_refused_and_said(above):
    place = Disk({"a.py": b"x\n"})
    landing = land(place, f"{above}```\n2\n```\n", "whole_file")
    assert landing.hunks[-1].stage is Stage.REFUSED
    assert landing.hunks[-1].reason.startswith("no file name above this block")
    assert not landing.placed_all
