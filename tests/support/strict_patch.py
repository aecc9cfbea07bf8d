"""A strict applier of V4A patches: the tests' second opinion, so that it shares no code with ours.

Every section must lie exactly once behind the one before it; anything else is an AssertionError.
"""

from __future__ import annotations


def apply_patch(files: dict[str, str], patch: str) -> dict[str, str]:
    """The files after the patch; deletes and moves are not known."""
    lines = patch.rstrip("\n").split("\n")
    assert lines[0] == "*** Begin Patch", lines[0]
    assert lines[-1] == "*** End Patch", lines[-1]
    after, at = dict(files), 1
    while at < len(lines) - 1:
        kind, _, path = lines[at].removeprefix("*** ").partition(" File: ")
        end = at + 1
        while not lines[end].startswith("*** "):
            end += 1
        body = lines[at + 1 : end]
        if kind == "Add":
            assert path not in files, f"{path} is there already"
            assert all(line.startswith("+") for line in body)
            after[path] = "".join(line[1:] + "\n" for line in body)
        else:
            assert kind == "Update", lines[at]
            after[path] = _update(files[path], body)
        at = end
    return after


def _update(text: str, body: list[str]) -> str:
    assert text.endswith("\n") or not text
    old, new, done = text.split("\n")[:-1], [], 0
    for section in _sections(body):
        before = [line[1:] for line in section if line[0] in " -"]
        after = [line[1:] for line in section if line[0] in " +"]
        places = [
            first
            for first in range(done, len(old) - len(before) + 1)
            if old[first : first + len(before)] == before
        ]
        assert len(places) == 1 or not before, f"{len(places)} places for {section}"
        first = places[0] if before else len(old)
        new += old[done:first] + after
        done = first + len(before)
    return "".join(line + "\n" for line in new + old[done:])


def _sections(body: list[str]) -> list[list[str]]:
    sections: list[list[str]] = []
    for line in body:
        if line == "@@":
            sections.append([])
        else:
            assert line[0] in " -+", line
            sections[-1].append(line)
    assert all(sections)
    return sections
