"""Auto-accept in every format: each flag of EDITS.md section 8 leaves its hunk for a look (I07)."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from tests.support.fakes import World
from tests.support.notations import NOTATIONS, told
from tests.support.patches import Edit
from tests.support.tables import each
from tui.core.document.hunk import Decision, Stage
from tui.core.edit_stream.events import Notation
from tui.core.patches.landing import Landing
from tui.engine.session import SessionOptions

pytestmark = pytest.mark.case("I07")
TEXT = "one\ntwo\nthree\nfour\nfive\n"
DEEP = "def f():\n    one\n    two\n    three\n"
QUOTED = "say 'one'\ntwo\n"
GAP = "one\n\ntwo\nthree\n"


class Look(NamedTuple):
    """A file, what streams, and a word of the flag or the reason."""

    content: str
    stream: str
    why: str


def block(old: str, new: str, path: str = "a.py") -> str:
    return f"{path}\n<<<<<<< SEARCH\n{old}=======\n{new}>>>>>>> REPLACE\n"


def patch(body: str, head: str = "*** Update File: a.py") -> str:
    return f"*** Begin Patch\n{head}\n{body}*** End Patch\n"


def diff(body: str) -> str:
    return f"--- a/a.py\n+++ b/a.py\n{body}"


def whole(body: str, fence: str = "```\n") -> str:
    return f"a.py\n```\n{body}{fence}"


LOOKS: dict[Notation, dict[str, Look]] = {
    "search_replace": {
        "empty SEARCH": Look(TEXT, block("", "six\n"), "empty SEARCH"),
        "placeholder": Look(TEXT, block("two\n", "TWO\n# ... rest of the code ...\n"), "placeh"),
        "indentation": Look(DEEP, block("one\ntwo\n", "ONE\ntwo\n"), "indent"),
        "punctuation": Look(QUOTED, block("say ‘one’\n", "say it\n"), "punctuation"),
        "blank lines": Look(TEXT, block("\ntwo\n", "\nTWO\n"), "blank lines"),
        "ambiguous": Look("x\ny\nx\n", block("x\n", "X\n"), "ambiguous"),
        "left out": Look(GAP, block("one\ntwo\n", "one\nTWO\n"), "left out"),
    },
    "unified_diff": {
        "counts": Look(TEXT, diff("@@ -1,9 +1,9 @@\n one\n-two\n+TWO\n"), "counts"),
        "placeholder": Look(TEXT, diff("@@\n one\n-two\n+// ... existing code ...\n"), "placeh"),
        "indentation": Look(DEEP, diff("@@\n one\n-two\n+TWO\n"), "indent"),
        "punctuation": Look(QUOTED, diff("@@\n-say ‘one’\n+say it\n two\n"), "punctuation"),
        "create-over": Look(TEXT, "--- /dev/null\n+++ b/a.py\n@@ -0,0 +1 @@\n+new\n", "exists"),
        "delete": Look("x\n", "--- a/a.py\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n", "deletes"),
        "out of order": Look(TEXT, diff("@@\n-four\n+FOUR\n@@\n-two\n+TWO\n"), "out of order"),
        "nearest": Look("x\ny\nx\n", diff("@@ -3 +3 @@\n-x\n+X\n"), "several places"),
        "ambiguous": Look("x\ny\nx\n", diff("@@\n-x\n+X\n"), "ambiguous"),
        "only added": Look(TEXT, diff("@@\n+six\n"), "only added lines"),
        "left out": Look(GAP, diff("@@\n one\n-two\n+TWO\n"), "left out"),
        "prefix": Look(DEEP, diff("@@\n    one\n-    two\n+    TWO\n    three\n"), "prefix"),
        "both": Look(GAP, diff("@@\none\n-two\n+TWO\nthree\n"), "prefix"),
    },
    "whole_file": {
        "placeholder": Look(TEXT, whole("one\n# ... rest of the code unchanged ...\n"), "placeh"),
        "shrink": Look(TEXT, whole("one\ntwo\n"), "shrink"),
        "no fence": Look(TEXT, whole(TEXT.replace("two", "TWO"), ""), "fence"),
    },
    "apply_patch": {
        "placeholder": Look(TEXT, patch("@@\n-two\n+# ... existing code ...\n"), "placeh"),
        "indentation": Look(DEEP, patch("@@\n-two\n+TWO\n"), "indent"),
        "punctuation": Look(QUOTED, patch("@@\n-say ‘one’\n+say it\n"), "punctuation"),
        "anchor": Look(TEXT, patch("@@ gone\n-two\n+TWO\n"), "anchor not found"),
        "only added": Look(TEXT, patch("@@ two\n+more\n"), "only added lines"),
        "not at the end": Look(TEXT, patch("@@\n-two\n+TWO\n*** End of File\n"), "not at the end"),
        "create-over": Look(TEXT, patch("+new\n", "*** Add File: a.py"), "overwrites"),
        "delete": Look(TEXT, patch("", "*** Delete File: a.py"), "deletes"),
        "move-over": Look(
            TEXT, patch("*** Move to: b.py\n@@\n-two\n+TWO\n"), "moves over an existing file"
        ),
        "ambiguous": Look("x\ny\nx\n", patch("@@\n-x\n+X\n"), "ambiguous"),
        "left out": Look(GAP, patch("@@\n one\n-two\n+TWO\n"), "left out"),
        "prefix": Look(DEEP, patch("@@\n    one\n-    two\n+    TWO\n    three\n"), "prefix"),
        "both": Look(GAP, patch("@@\none\n-two\n+TWO\nthree\n"), "prefix"),
        "no End Patch": Look(TEXT, "*** Begin Patch\n*** Update File: a.py\n-two\n+TWO\n", "End"),
    },
}


def land(world: World, fmt: Notation, stream: str, chars: int) -> Landing:
    landing = Landing(world.session.workspace, turn=1, call_id="c", channel="text", fmt=fmt)
    for at in range(0, len(stream), chars):
        landing.feed(stream[at : at + chars])
        landing.tail()
    landing.finish(cut=False)
    return landing


@each("chars", [1, 4000])
@each("fmt, name", [(fmt, name) for fmt in LOOKS for name in LOOKS[fmt]])
async def test_i07_what_is_flagged_waits_for_a_look(fmt: Notation, name: str, chars: int) -> None:
    content, stream, why = LOOKS[fmt][name]
    world = World(
        {"a.py": content, "b.py": "there\n"}, options=SessionOptions(ask=True, auto_accept=True)
    )
    landing = land(world, fmt, stream, chars)
    odd = [hunk for hunk in landing.hunks if why in "; ".join([*hunk.flags, hunk.reason])]
    assert odd, [(hunk.flags, hunk.reason) for hunk in landing.hunks]
    assert all(hunk.decision is Decision.PENDING for hunk in odd)
    plain = [hunk for hunk in landing.hunks if not hunk.flags and hunk.stage is Stage.LANDED]
    assert all(hunk.decision is Decision.ACCEPTED for hunk in plain)
    if not plain:
        assert world.files.data == {"a.py": content.encode(), "b.py": b"there\n"}


@each("fmt", NOTATIONS)
async def test_i07_what_is_as_it_should_be_is_accepted(fmt: Notation) -> None:
    world = World({"a.py": TEXT}, options=SessionOptions(ask=True, auto_accept=True))
    stream = told(fmt, TEXT.split(), [Edit(2, 3, ("THREE",))], 1, "a.py")
    landing = land(world, fmt, stream, 3)
    assert [(h.decision, [*h.flags]) for h in landing.hunks] == [(Decision.ACCEPTED, [])]
    assert world.files.data["a.py"] == TEXT.replace("three", "THREE").encode()
