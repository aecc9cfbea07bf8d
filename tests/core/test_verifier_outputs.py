"""What linters, type checkers and reports of real tools said, and what is read from it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.tables import each
from tui.cli.verifiers.project import formats
from tui.core.run_report import (
    FailedTest,
    RunCounts,
    RunReport,
    ended_words,
    placed,
    read_counts,
    read_eslint,
    read_jest,
    read_output,
)

OUTPUTS = Path(__file__).with_name("run_outputs")
ROOT = "/home/ada/app/"


def locate(named: str) -> str:
    path = named.removeprefix("file://").removeprefix(ROOT)
    return "" if path.startswith(("/", "node_modules/")) else path


@each(
    "form, text, found",
    [
        (
            "ruff",
            "src/cache.py:1:8: F401 [*] `os` imported but unused\n"
            "a.py:3:1: invalid-syntax: Expected an expression\n"
            "Found 2 errors.\n[*] 1 fixable with `--fix`.\n",
            [
                ("F401", "src/cache.py", 1, "`os` imported but unused"),
                ("invalid-syntax:", "a.py", 3, "Expected an expression"),
            ],
        ),
        (
            "mypy",
            'src/deep.py:5:12: error: Incompatible return value type (got "int", expected "str")'
            "  [return-value]\nsrc/deep.py:6:1: note: See the docs\n",
            [
                (
                    "return-value",
                    "src/deep.py",
                    5,
                    'Incompatible return value type (got "int", expected "str")',
                )
            ],
        ),
        (
            "pyright",
            f"{ROOT}a.py\n  {ROOT}a.py:1:24 - error: Type \"Literal['x']\" is not assignable to"
            ' return type "int"\n    "Literal[\'x\']" is not assignable to "int"'
            " (reportReturnType)\n1 error, 0 warnings, 0 informations\n",
            [
                (
                    "reportReturnType",
                    "a.py",
                    1,
                    'Type "Literal[\'x\']" is not assignable to return type "int"',
                )
            ],
        ),
        (
            "tsc",
            "src/t.ts(1,14): error TS2322: Type 'string' is not assignable to type 'number'.\n",
            [("TS2322", "src/t.ts", 1, "Type 'string' is not assignable to type 'number'.")],
        ),
        (
            "pre-commit",
            "trailing space...........................................................Passed\n"
            "no fixme.................................................................Failed\n"
            "- hook id: nope\n- exit code: 1\n\ncache.py:7: fixme found\n",
            [("no fixme", "cache.py", 7, "cache.py:7: fixme found")],
        ),
        ("syntax", "a.py:3: invalid syntax\n", [("a.py", "a.py", 3, "invalid syntax")]),
    ],
)
def test_problems_are_read_from_the_output(
    form: str, text: str, found: list[tuple[str, str, int, str]]
) -> None:
    read = read_output(text, [formats()[form]], locate)
    assert [(one.name, one.path, one.line + 1, one.message) for one in read] == found


LATE = """.Timeout (0:00:02)!
Thread 0x00007f22785cab80 (most recent call first):
  File "/home/ada/app/src/sum.py", line 4 in wait
  File "/home/ada/app/tests/test_sum.py", line 8 in test_sum
  File "/home/ada/.venv/lib/python3.11/site-packages/_pytest/python.py", line 157 in pytest_pyfunc
"""


@each(
    "text, found",
    [(LATE, [("test_sum", "Timeout (0:00:02)")]), (f"{LATE}.\n2 passed, 1 skipped in 3.1s\n", [])],
)
def test_the_test_that_pytest_waits_for_is_told(text: str, found: list[tuple[str, str]]) -> None:
    read = read_output(text, [formats()["pytest late"]], str)
    assert [(one.name, one.message) for one in read] == found
    assert [(one.path, one.line) for one in read] == [("/home/ada/app/src/sum.py", 3)] * len(found)
    assert not any("_pytest" in one.detail for one in read)


NODE_SPEC = "ℹ tests 3\nℹ suites 0\nℹ pass 1\nℹ fail 1\nℹ cancelled 0\nℹ skipped 1\nℹ todo 0\n"
CARGO = "test result: ok. {} passed; {} failed; {} ignored; 0 measured; 0 filtered out\n"


@each(
    "text, counts",
    [
        ("pytest.txt", RunCounts(1, 3, 0)),
        ("==== 3 passed, 2 skipped, 1 warning in 61.20s (0:01:01) ====\n", RunCounts(3, 0, 2)),
        ("unittest.txt", RunCounts(0, 3, 0)),
        ("Ran 5 tests in 0.1s\n\nOK (skipped=2)\n", RunCounts(3, 0, 2)),
        ("cargo.txt", RunCounts(0, 2, 0)),
        (CARGO.format(2, 0, 1) + CARGO.format(3, 1, 0), RunCounts(5, 1, 1)),
        ("jest.txt", RunCounts(1, 1, 0)),
        ("vitest.txt", RunCounts(1, 1, 0)),
        ("node.txt", RunCounts(1, 1, 0)),
        (NODE_SPEC, RunCounts(1, 1, 1)),
        ("bun.txt", RunCounts(0, 1, 0)),
        ("  3 passing (5ms)\n  1 pending\n  2 failing\n", RunCounts(3, 2, 1)),
        ("all good\n", None),
        ("I wrote 3 failed tests in my life\n", None),
    ],
)
def test_tests_are_counted_from_the_summary(text: str, counts: RunCounts | None) -> None:
    output = (OUTPUTS / text).read_text() if text.endswith(".txt") else text
    assert read_counts(output, formats().values()) == counts


JEST = b"""{"numTotalTests": 4, "testResults": [
 {"name": "/home/ada/app/src/other.test.js", "status": "passed", "assertionResults": [
  {"ancestorTitles": [], "title": "two", "status": "passed", "failureMessages": []}]},
 {"name": "/home/ada/app/src/broken.test.js", "status": "failed", "assertionResults": [],
  "message": "SyntaxError: Unexpected token"},
 {"name": "/home/ada/app/src/sum.test.js", "status": "failed", "assertionResults": [
  {"ancestorTitles": ["sum"], "title": "adds", "status": "failed", "failureMessages":
   ["Error: expect(received).toBe(expected)\\n\\nExpected: 3\\n\
    at Object.toBe (/home/ada/app/src/sum.test.js:3:42)\\n\
    at x (/home/ada/app/node_modules/j.js:1:2)"]},
  {"ancestorTitles": ["sum"], "title": "later", "status": "pending", "failureMessages": []}]}]}"""


def test_a_report_of_jest_or_vitest_says_all() -> None:
    report = read_jest(JEST, locate)
    assert report is not None
    assert report.counts == RunCounts(1, 2, 1)
    broken, adds = report.failed
    assert (broken.id, broken.message) == ("src/broken.test.js", "SyntaxError: Unexpected token")
    assert adds[:4] == ("sum > adds", "src/sum.test.js", 2, "expect(received).toBe(expected)")
    assert adds.id == "src/sum.test.js"


NODE_SPEC = """test at a.test.js:3:69
✖ never
  'test did not finish before its parent and was cancelled'

test at a.test.js:4:1
✖ later (0.13ms) # TODO
  Error: todo
"""
NODE_TAP = """    not ok 1 - inner
      ---
      location: '/home/ada/app/a.test.js:5:32'
      failureType: 'testCodeFailure'
      error: 'boom'
      ...
    1..1
not ok 4 - outer
  ---
  type: 'suite'
  location: '/home/ada/app/a.test.js:5:1'
  failureType: 'subtestsFailed'
  error: '1 subtest failed'
  ...
"""


@each(
    "form, text, found",
    [
        (
            "node",
            NODE_SPEC,
            ("never", "a.test.js", 2, "test did not finish before its parent and was cancelled"),
        ),
        ("tap", NODE_TAP, ("inner", "a.test.js", 4, "boom")),
    ],
)
def test_a_test_that_is_to_be_done_or_has_only_others_in_it_has_not_failed(
    form: str, text: str, found: tuple[str, str, int, str]
) -> None:
    (one,) = read_output(text, [formats()[form]], locate)
    assert one[:4] == found


@each(
    "form, text, found",
    [
        (
            "unittest",
            "=====\nUNEXPECTED SUCCESS: test_a (t.T.test_a)\n-----\nRan 1 test in 0.0s\n",
            ("test_a (t.T.test_a)", "", 0, ""),
        ),
        (
            "unittest",
            "ERROR: t (unittest.loader._FailedTest.t)\n-----\n"
            "ImportError: Failed to import test module: t\nTraceback (most recent call last):\n"
            '  File "/home/ada/app/t.py", line 3\n    def\nSyntaxError: invalid syntax\n',
            ("t (unittest.loader._FailedTest.t)", "t.py", 2, "SyntaxError: invalid syntax"),
        ),
        (
            "pytest late",
            ".Fatal Python error: Segmentation fault\n\nCurrent thread 0x1:\n"
            '  File "/home/ada/app/t.py", line 3 in test_crash\n'
            '  File "/x/_pytest/python.py", line 157 in pytest_pyfunc_call\n',
            ("test_crash", "t.py", 2, "Fatal Python error: Segmentation fault"),
        ),
        (
            "cargo overflow",
            "thread 'tests::deep' (7) has overflowed its stack\nfatal runtime error\n",
            ("tests::deep", "", 0, "has overflowed its stack"),
        ),
        (
            "cargo crash",
            "  process didn't exit successfully: `/t/debug/deps/my_app-0448bf9a300fd164 x`"
            " (signal: 6, SIGABRT: process abort signal)\n",
            ("my_app", "", 0, "signal: 6, SIGABRT: process abort signal"),
        ),
        (
            "cargo",
            "---- tests::sp stdout ----\nnote: test did not panic as expected at src/lib.rs:14:5\n",
            ("tests::sp", "src/lib.rs", 13, "test did not panic as expected"),
        ),
    ],
)
def test_what_ended_a_run_or_never_began_is_named(
    form: str, text: str, found: tuple[str, str, int, str]
) -> None:
    (one,) = read_output(text, [formats()[form]], locate)
    assert one[:4] == found


def test_what_go_says_as_json_has_failed_whatever_the_exit_status() -> None:
    """As where a recipe pipes it into another program."""
    text = (
        '{"Time":"2026-01-01T00:00:00Z","Action":"run","Package":"ex","Test":"TestA"}\n'
        '{"Time":"2026-01-01T00:00:00Z","Action":"fail","Package":"ex","Test":"TestA/x","Elapsed":0}\n'
        '{"Time":"2026-01-01T00:00:00Z","Action":"fail","Package":"ex","Elapsed":0.1}\n'
    )
    (one,) = read_output(text, [form for form in formats().values() if form.certain], locate)
    assert one.name == "TestA/x"


@each(
    "told, message, line",
    [
        (
            "  ● Test suite failed to run\n\n    teardown broke\n\n    > 1 | afterAll(\n\n"
            "      at Object.<anonymous> (src/b.test.js:3:21)\n",
            "teardown broke",
            2,
        ),
        ("", "", 0),
        (
            "  ● Test suite failed to run\n\n    Jest encountered an unexpected token\n\n"
            "    SyntaxError: /home/ada/app/src/b.test.js: Missing semicolon. (1:17)\n",
            "SyntaxError: /home/ada/app/src/b.test.js: Missing semicolon. (1:17)",
            0,
        ),
    ],
)
def test_a_file_whose_hook_failed_is_a_failure_although_its_tests_passed(
    told: str, message: str, line: int
) -> None:
    passed = [{"title": "ok", "status": "passed", "ancestorTitles": [], "failureMessages": []}]
    file = {"name": f"{ROOT}src/b.test.js", "status": "failed", "message": told}
    results = [{**file, "assertionResults": passed}]
    report = read_jest(json.dumps({"testResults": results}).encode(), locate)
    assert report is not None
    assert report.counts == RunCounts(1, 1)
    assert [one[:4] for one in report.failed] == [("src/b.test.js", "src/b.test.js", line, message)]


def test_a_run_that_failed_says_so_although_all_its_tests_passed() -> None:
    report = RunReport(counts=RunCounts(2))
    assert ended_words(report, red=True) == "failed · 2 passed"
    assert ended_words(RunReport((ONE,), counts=RunCounts(2, 1)), red=True) == "1 failed · 2 passed"


def test_a_report_of_eslint_has_its_errors_and_no_warnings() -> None:
    report = read_eslint(
        b"""[{"filePath": "/home/ada/app/src/lint.js", "messages": [
        {"ruleId": "no-unused-vars", "severity": 2, "message": "unused", "line": 1},
        {"ruleId": "no-console", "severity": 1, "message": "Unexpected console", "line": 1},
        {"ruleId": null, "severity": 2, "message": "Parsing error: x", "line": 4}]}]""",
        locate,
    )
    assert report is not None
    assert [one[:4] for one in report.failed] == [
        ("no-unused-vars", "src/lint.js", 0, "unused"),
        ("syntax", "src/lint.js", 3, "Parsing error: x"),
    ]


@pytest.mark.parametrize("data", [b"", b"{", b"[1]", b'{"testResults": 3}', b"\xff\x00"])
def test_what_is_no_report_says_nothing(data: bytes) -> None:
    assert read_jest(data, locate) is None
    assert read_eslint(data, locate) is None


@each(
    "detail, place",
    [
        ("self = <t.M>\n\nt/test_m.py:6: AssertionError", ("t/test_m.py", 5)),
        ('  File "/home/ada/app/t/test_m.py", line 3, in test_m', ("t/test_m.py", 2)),
        ("at Object.<anonymous> (/tmp/shadow/t/test_m.py:4:12)", ("t/test_m.py", 3)),
        ("other/t/test_m.pyx:4", ("", 0)),
        ("a.py:1: said nothing", ("", 0)),
    ],
)
def test_what_failed_in_a_file_that_is_only_on_the_screen_has_a_place(
    detail: str, place: tuple[str, int]
) -> None:
    report = RunReport((FailedTest("t.test_m.M.test_m", detail=detail),))
    (one,) = placed(report, {"t/test_m.py"}).failed
    assert (one.path, one.line) == place


ONE = FailedTest("a")


@each(
    "report, words",
    [
        (RunReport(), ""),
        (RunReport(counts=RunCounts(12, 0, 1)), "12 passed · 1 skipped"),
        (RunReport((ONE,), counts=RunCounts(2, 1)), "1 failed · 2 passed"),
        (RunReport(counts=RunCounts(2, 3)), "3 failed · 2 passed"),
        (RunReport((ONE,), late=True), "timed out"),
        (RunReport((ONE, ONE), noun="problem"), "2 problems"),
        (RunReport(known=(ONE, ONE), noun="problem"), "2 problems before, too"),
        (RunReport(known=(ONE,), counts=RunCounts(2, 1)), "2 passed · 1 failed before, too"),
    ],
)
def test_how_a_run_ended_in_brief(report: RunReport, words: str) -> None:
    assert ended_words(report) == words
