"""What real runners printed, and what is read from it."""

from __future__ import annotations

from pathlib import Path

from tests.support.tables import each
from tui.cli.verifiers.project import formats
from tui.cli.verifiers.reading import without_v
from tui.core.run_report import (
    FailedTest,
    RunCounts,
    RunReport,
    as_prompt,
    of_change,
    read_junit,
    read_output,
)

NO_FLASK = "ModuleNotFoundError: No module named 'flask'"
UNEQUAL = "Expected values to be strictly equal:"
ASSERTION = f"AssertionError [ERR_ASSERTION]: {UNEQUAL}"
NIL_MAP = "assignment to entry in nil map [recovered]"
EXPECTED = "expect(received).toBe(expected) // Object.is equality"
OUTPUTS = Path(__file__).with_name("run_outputs")
FILES = {
    "tests/test_a.py",
    "tests/test_u.py",
    "tests/test_m.py",
    "cache/cache.go",
    "cache/cache_test.go",
    "src/lib.rs",
    "test/node.test.js",
    "v/a.test.mjs",
    "b/a.test.ts",
    "m/a.js",
    "j/a.test.js",
}
"""Of all the projects whose outputs are here."""
PYTEST = [
    ("test_broken", "tests/test_a.py", 20, "ZeroDivisionError: division by zero"),
    ("TestAdd.test_adds[2]", "tests/test_a.py", 7, "assert (1 + 2) == 2"),
    ("test_raises", "tests/test_a.py", 11, "ValueError: bad"),
]


def locate(named: str) -> str:
    """As a workspace does that lies in ``/home/ada/app``."""
    path = named.removeprefix("file://").removeprefix("/home/ada/app/").removeprefix("./")
    ends = [file for file in FILES if f"/{file}".endswith(f"/{path}")]
    return ends[0] if len(ends) == 1 else ""


def read(name: str, *only: str) -> list[tuple[str, str, int, str]]:
    known = formats()
    text = (OUTPUTS / f"{name}.txt").read_text()
    chosen = [known[one] for one in only or known]
    return [(o.name, o.path, o.line + 1, o.message) for o in read_output(text, chosen, locate)]


GO_VERBOSE = """\
=== RUN   TestAdd
=== RUN   TestAdd/small
    cache_test.go:8: Add(1, 2) = -1, want 3
=== RUN   TestAdd/zero
    cache_test.go:11: fine
--- FAIL: TestAdd (0.00s)
    --- FAIL: TestAdd/small (0.00s)
    --- PASS: TestAdd/zero (0.00s)
=== RUN   TestLater
    cache_test.go:13: later
--- SKIP: TestLater (0.00s)
=== RUN   TestPar
=== PAUSE TestPar
=== RUN   TestPar2
=== PAUSE TestPar2
=== CONT  TestPar
    cache_test.go:14: a
    cache_test.go:14: parallel one
--- FAIL: TestPar (0.00s)
=== CONT  TestPar2
    cache_test.go:15: b
--- PASS: TestPar2 (0.00s)
FAIL
FAIL\texample.org/app/cache\t0.006s
=== RUN   TestLater
--- PASS: TestLater (0.00s)
PASS
ok  \texample.org/app/web\t0.006s
FAIL
"""


def test_what_go_says_of_each_test_is_counted_and_told_as_without_v() -> None:
    told, report = without_v(GO_VERBOSE)
    assert report.counts == RunCounts(passed=3, failed=2, skipped=1)
    assert report.skipped == ("TestLater",)
    assert told.splitlines()[:7] == [
        "--- FAIL: TestAdd (0.00s)",
        "    --- FAIL: TestAdd/small (0.00s)",
        "    cache_test.go:8: Add(1, 2) = -1, want 3",
        "--- FAIL: TestPar (0.00s)",
        "    cache_test.go:14: a",
        "    cache_test.go:14: parallel one",
        "FAIL",
    ]
    assert "fine" not in told


def test_what_a_test_of_go_said_that_never_ended_is_told() -> None:
    panic = "=== RUN   TestA\npanic: test timed out\nFAIL\ta\t1.0s\n"
    assert without_v(panic) == (
        "--- FAIL: TestA\npanic: test timed out\nFAIL\ta\t1.0s\n",
        RunReport(),
    )
    assert without_v("# a\n./a.go:3:1: undefined: c\n") == (
        "# a\n./a.go:3:1: undefined: c\n",
        RunReport(),
    )


@each(
    "name, found",
    [
        ("pytest", PYTEST),
        (
            "summary",
            [
                ("TestAdd::test_adds[2]", "tests/test_a.py", 1, "assert (1 + 2) == 2"),
                ("test_raises", "tests/test_a.py", 1, "ValueError: bad"),
                ("test_broken", "tests/test_a.py", 1, "ZeroDivisionError: division by zero"),
            ],
        ),
        (
            "missing",
            [
                (
                    "tests/test_m.py",
                    "tests/test_m.py",
                    1,
                    "ModuleNotFoundError: No module named 'flask'",
                )
            ],
        ),
        (
            "unittest",
            [
                (
                    "test_m (unittest.loader._FailedTest.test_m)",
                    "tests/test_m.py",
                    1,
                    NO_FLASK,
                ),
                ("test_y (test_u.T.test_y)", "tests/test_u.py", 9, "KeyError: 'k'"),
                ("test_x (test_u.T.test_x)", "tests/test_u.py", 6, "AssertionError: 1 != 2"),
            ],
        ),
        (
            "go",
            [
                ("TestAdd/small", "cache/cache_test.go", 8, "Add(1, 2) = -1, want 3"),
                (
                    "TestPanic",
                    "cache/cache_test.go",
                    13,
                    NIL_MAP,
                ),
            ],
        ),
        ("gobuild", [("cache/cache.go", "cache/cache.go", 3, "undefined: c")]),
        (
            "cargo",
            [
                ("tests::says", "", 1, '"no"'),
                ("tests::adds", "src/lib.rs", 6, "assertion `left == right` failed"),
            ],
        ),
        ("rustc", [("src/lib.rs", "src/lib.rs", 1, "cannot find value `c` in this scope")]),
        (
            "node",
            [("adds two numbers", "test/node.test.js", 3, UNEQUAL)],
        ),
        (
            "nodespec",
            [("adds two numbers", "test/node.test.js", 3, ASSERTION)],
        ),
        (
            "vitest",
            [
                (
                    "v/a.test.mjs > cache > adds",
                    "v/a.test.mjs",
                    3,
                    "AssertionError: expected -1 to be 3 // Object.is equality",
                )
            ],
        ),
        (
            "jest",
            [
                (
                    "cache › adds",
                    "j/a.test.js",
                    2,
                    EXPECTED,
                )
            ],
        ),
        (
            "mocha",
            [
                (
                    "cache adds",
                    "m/a.js",
                    2,
                    ASSERTION,
                )
            ],
        ),
        ("bun", [("adds", "b/a.test.ts", 3, "expect(received).toBe(expected)")]),
    ],
)
def test_the_output_of_a_runner_is_read_whoever_called_it(
    name: str, found: list[tuple[str, str, int, str]]
) -> None:
    assert read(name) == found


def junit(name: str) -> RunReport:
    report = read_junit((OUTPUTS / f"{name}.xml").read_bytes(), locate)
    assert report is not None
    return report


def test_a_junit_report_says_what_the_output_says() -> None:
    found = junit("a").failed
    assert [(o.name, o.path, o.line + 1, o.message) for o in found] == [
        PYTEST[1],
        PYTEST[2],
        (*PYTEST[0][:3], "in setup: ZeroDivisionError: division by zero"),
    ]
    (missing,) = junit("m").failed
    assert (missing.path, missing.line) == ("tests/test_m.py", 0)
    assert missing.message == NO_FLASK


def test_a_skipped_test_has_the_name_by_which_it_fails() -> None:
    case = '<testcase classname="tests.test_a.TestAdd" name="test_adds" file="tests/test_a.py">'
    failing, skipped = (
        read_junit(f"<testsuite>{case}{ends}</testcase></testsuite>".encode(), locate)
        for ends in ('<failure message="no"/>', "<skipped/>")
    )
    assert failing is not None
    assert skipped is not None
    assert [one.name for one in failing.failed] == list(skipped.skipped) == ["TestAdd.test_adds"]


@each("data", [b"", b"<", b"\x00\xff", b"<a/>", b"<testcase/>", b"<testcase><failure/></testcase>"])
def test_what_is_no_report_is_none(data: bytes) -> None:
    report = read_junit(data, locate)
    assert report is None or [one.message for one in report.failed] in ([], [""])


def test_what_belongs_to_the_change_comes_first_and_all_is_trimmed() -> None:
    one = FailedTest("test_put", "tests/test_cache.py", 4, "assert 1 == 2", "x\n" * 4000)
    two = FailedTest("test_other", "tests/test_other.py", 9, "boom", "boom in src/store.py")
    rest = [FailedTest(f"test_{n}", "tests/test_rest.py", n, "why", "y\n" * 400) for n in range(50)]
    assert of_change([*rest, two, one], ["src/cache.py", "src/store.py"]) == [two, one]
    text = as_prompt("pytest -q", "failed (exit 1)", [one, two, *rest], 6000)
    assert len(text) < 6500
    assert text.startswith("`pytest -q` failed (exit 1): 52 tests. Find the cause and fix it.")
    assert "1. test_put (tests/test_cache.py:5)\n   assert 1 == 2" in text
    assert "(the beginning is left out)" in text
    assert text.endswith(" more.")


def test_a_panic_outside_of_a_test_is_told_of_the_test_that_ran() -> None:
    text = (
        "=== RUN   TestA\npanic: in goroutine\n\ngoroutine 19 [running]:\nFAIL\tex\t0.005s\nFAIL\n"
    )
    told, _ = without_v(text)
    (one,) = read_output(told, [formats()["go"]], locate)
    assert (one.name, one.message) == ("TestA", "in goroutine")


@each(
    "text, counts",
    [
        ("?   \ta\t[no test files]\n", RunCounts()),
        ("testing: warning: no tests to run\nPASS\nok  \ta\t0.1s [no tests to run]\n", RunCounts()),
        ("?   \ta\t[no test files]\nok  \tb\t(cached)\n", None),
        ("?   \ta\t[no test files]\nFAIL\tb [build failed]\n", None),
    ],
)
def test_packages_of_go_without_a_test_are_no_tests(text: str, counts: RunCounts | None) -> None:
    assert without_v(text)[1].counts == counts


def test_a_file_that_is_no_python_says_why_it_is_none() -> None:
    detail = 'E     File "/home/ada/app/t.py", line 1\nE       def\nE   SyntaxError: invalid syntax'
    case = f'<testcase name="t" file="tests/test_a.py"><error message="collection failure">{detail}'
    report = read_junit(f"<a>{case}</error></testcase></a>".encode(), locate)
    assert report is not None
    assert report.failed[0].message == "SyntaxError: invalid syntax"


@each(
    "told, detail, message",
    [
        (
            "failed on setup with &quot;assert 2 == 1&#10; +  where 2 = a.X&quot;",
            "    assert a.X == 1\nE   assert 2 == 1\nE    +  where 2 = a.X",
            "in setup: assert 2 == 1",
        ),
        ("failed on teardown with &quot;worker crashed&quot;", "", "in teardown: worker crashed"),
    ],
)
def test_what_failed_around_a_test_says_where_and_why(told: str, detail: str, message: str) -> None:
    case = f'<testcase name="t" file="tests/test_a.py"><error message="{told}">{detail}'
    report = read_junit(f"<a>{case}</error></testcase></a>".encode(), locate)
    assert report is not None
    assert report.failed[0].message == message
