"""What ``go test -v`` says, as it says it without ``-v``, and how many tests did what.

With ``-v`` what a test says comes before it is said that it failed; without, no test is told of
that was skipped.
"""

from __future__ import annotations

import re

from tui.core.run_report import RunCounts, RunReport
from tui.core.text.patterns import pattern

_GOES_ON = pattern(r"=== (RUN|CONT|NAME|PAUSE) +(\S+)$")
_ENDED = pattern(r" *--- (PASS|FAIL|SKIP): (\S+)")
_CUT = pattern(r"^\[[\d,]+ bytes left out\]$", re.M)
_NOT_SAID = pattern(
    r"(?:\A|^(?!PASS$|coverage: |\[[\d,]+ bytes left out\]$)[^\n]*\n)ok *\t(\S+)(?!.*no tests)",
    re.M,
)
"""A package that passed without PASS before: it was ended before its tests were."""
_PACKAGE_ENDED = pattern(r"(?:FAIL|ok) *\t")


def without_v(text: str) -> tuple[str, RunReport]:
    """Also the counts, and the skipped, of tests that have none below them, if it tells of all."""
    told, said = list[str](), dict[str, list[str]]()
    ends = dict[tuple[int, str], str]()
    current, package = "", 0
    for line in text.replace("\r\n", "\n").splitlines(keepends=True):
        if found := _GOES_ON.match(line.rstrip("\n")):
            current = "" if found[1] == "PAUSE" else found[2]
        elif found := _ENDED.match(line):
            current = ""
            ends[package, found[2]] = found[1]
            lines = said.pop(found[2], [])
            told += [line, *lines] if found[1] == "FAIL" else []
        elif _PACKAGE_ENDED.match(line):
            told += [one for lines in said.values() for one in lines]  # of tests that did not end
            told.append(line)
            current, package, said = "", package + 1, {}
        elif current:
            said.setdefault(current, []).append(line)
        else:
            told.append(line)
    told += [one for lines in said.values() for one in lines]
    above = {(number, name.rpartition("/")[0]) for number, name in ends}
    leaves = {test: how for test, how in ends.items() if test not in above}
    if found := _NOT_SAID.search("".join(told)):
        fault = f"the tests of the package {found[1]} were ended before they said how they went"
        return "".join(told), RunReport(fault=fault, step="look for an exit in TestMain")
    if not leaves or _CUT.search(text):
        return "".join(told), RunReport()
    hows = list(leaves.values())
    counts = RunCounts(*(hows.count(how) for how in ("PASS", "FAIL", "SKIP")))
    skipped = tuple(name for (_, name), how in leaves.items() if how == "SKIP")
    return "".join(told), RunReport(counts=counts, skipped=skipped)
