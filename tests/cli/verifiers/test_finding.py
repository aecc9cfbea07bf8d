"""Which command runs a project's tests, and what is said where none can."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.tables import each
from tui.cli.verifiers import finding
from tui.cli.verifiers.project import Project
from tui.core.programs import RunResult
from tui.core.run_report import FailedTest, RunCounts, RunReport, brought_in
from tui.engine.ports import VerifyCommand, project_tests
from tui.engine.verifier_plan import verdict_of

Made = Callable[..., VerifyCommand | None]
PYTEST = ".venv/lib/python3.11/site-packages/pytest/__init__.py"
WITH_PYTEST = {"test_a.py": "", ".venv/bin/python": "", PYTEST: ""}
PYTEST_EXIT = "!!!!!!!! _pytest.outcomes.Exit: x !!!!!!!!"
MAKE = {"justfile": "test:\n true\n"}
ITS_OWN = "import unittest\nclass T(unittest.TestCase):\n def test_a(self): self.fail()\n"


CARGO = {"Cargo.toml": "[package]\nname = 'a'\n"}
GO = {"go.mod": "module a\n"}
JEST = {"package.json": '{"scripts": {"test": "jest --ci"}}', "node_modules/.bin/jest": "#!"}
NODE = {"package.json": '{"scripts": {"test": "node --test"}}'}
NODE_TEST = {**NODE, "a.test.js": "const test = require('node:test')\ntest('one', () => {})\n"}
PLAIN_NODE = {**NODE, "a.test.js": "require('assert').equal(1, 1)\n"}
MOCHA = {"package.json": '{"scripts": {"test": "mocha"}}'}
TAP = "1..1\n# tests 1\n# suites 0\n# pass 1\n# fail 0\n# cancelled 0\n# skipped 0\n# todo 0\n"
SPEC = TAP.replace("1..1\n", "").replace("#", "ℹ")
RAN = "test a ... ok\n\ntest result: ok. 1 passed; 0 failed; 0 ignored; 0 measured\n"


def find_runner(project: Project, deadline_s: float) -> VerifyCommand | None:
    return project_tests(finding.find_verifiers(project, deadline_s))


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Made:
    """Makes a project of these files, with these programs on PATH; says what runs its tests."""
    monkeypatch.setattr(finding, "find_spec", lambda name: None)
    numbers = iter(range(1000))

    def make(files: dict[str, str], *programs: str, **environ: str) -> VerifyCommand | None:
        root, bin_ = (tmp_path / f"{kind}{next(numbers)}" for kind in ("work", "bin"))
        for name, text in files.items():
            file = root / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        bin_.mkdir()
        for name in programs:
            (bin_ / name).write_text("#!/bin/sh\n")
            (bin_ / name).chmod(0o755)
        return find_runner(Project(root, {"PATH": str(bin_), **environ}), 60.0)

    return make


def words(command: VerifyCommand | None) -> str:
    """The command without the folders of its programs."""
    assert command is not None
    return " ".join([Path(command.argv[0]).name, *command.argv[1:]]) if command.argv else ""


def package(script: str, **more: str) -> str:
    return json.dumps({"scripts": {"test": script}, **more})


@each(
    "files, programs, found",
    [
        ({"test_a.py": "", ".venv/bin/python": "", PYTEST: ""}, "uv", "python -m pytest -q"),
        ({"test_a.py": "", ".venv/bin/python": "", "uv.lock": ""}, "uv", "uv run pytest -q"),
        ({"test_a.py": "", "pyproject.toml": "[tool.uv]\n"}, "uv poetry", "uv run pytest -q"),
        ({"test_a.py": "", "poetry.lock": ""}, "poetry", "poetry run pytest -q"),
        ({"test_a.py": "", "pyproject.toml": "[tool.pdm]"}, "pdm", "pdm run pytest -q"),
        ({"test_a.py": "", "hatch.toml": ""}, "hatch", "hatch test"),
        (
            {"test_a.py": "", "environment.yml": "channels: []\nname: sky\n"},
            "conda",
            "conda run --no-capture-output -n sky python -m pytest -q",
        ),
        ({"tox.ini": "[testenv]\n"}, "tox", "tox"),
        ({"tox.ini": "[flake8]\n"}, "tox", None),
        ({"noxfile.py": ""}, "nox", "nox"),
        ({"test_a.py": ""}, "pytest python3", "pytest -q"),
        ({"test_a.py": ITS_OWN}, "python3", "python3 -m unittest"),
        ({"Cargo.toml": "", "tools/test_x.py": ""}, "cargo pytest", "cargo test --no-fail-fast"),
        ({"go.mod": "", "Makefile": "test:\n"}, "go make", "go test ./..."),
        ({"package.json": package("vitest run")}, "npm", "npm test"),
        ({"package.json": package("jest"), "pnpm-lock.yaml": ""}, "npm pnpm", "pnpm test"),
        ({"package.json": package("jest", packageManager="yarn@4")}, "npm yarn", "yarn test"),
        ({"package.json": package("bun test"), "bun.lock": ""}, "bun", "bun run test"),
        ({"package.json": package('echo "Error: no test specified" && exit 1')}, "npm", None),
        ({"package.json": "[1"}, "npm", None),
        ({"package.json": package("")}, "npm", None),
        ({"justfile": "build:\n\ntest *args:\n  x\n"}, "just make", "just test"),
        ({"Makefile": ".PHONY: test\ncheck: all\n"}, "make", "make check"),
        ({"Makefile": "test := 1\n"}, "make", None),
        ({"Makefile": "test:\n", "tests/test_a.py": ""}, "make pytest", "pytest -q"),
        ({"notes.md": ""}, "make npm pytest", None),
    ],
)
def test_what_runs_the_tests_of_a_project(
    made: Made, files: dict[str, str], programs: str, found: str | None
) -> None:
    command = made(files, *programs.split())
    assert (None if command is None else words(command)) == found


@each(
    "files, fault",
    [
        (
            {"test_a.py": "", "uv.lock": ""},
            "the project's tests run with uv, which is missing",
        ),
        ({"Cargo.toml": ""}, "the project's tests run with cargo, which is missing"),
        ({"test_a.py": "def test_a(): pass"}, "pytest is not installed"),
    ],
)
def test_tests_that_nothing_can_run_are_said(made: Made, files: dict[str, str], fault: str) -> None:
    command = made(files)
    assert command is not None
    assert command.argv == ()
    assert command.reader is not None
    report = command.reader("", False)
    assert (report.fault, bool(report.step)) == (fault, True)


def test_the_activated_environment_comes_first_but_not_that_of_duetto(
    made: Made, tmp_path: Path
) -> None:
    active = tmp_path / "active"
    (active / "bin").mkdir(parents=True)
    (active / "bin/python").touch()
    (active / "lib/python3.11/site-packages/pytest").mkdir(parents=True)
    files = {"test_a.py": "", ".venv/bin/python": "", PYTEST: ""}
    command = made(files, VIRTUAL_ENV=str(active))
    assert command is not None
    assert (command.argv[0], command.source) == (
        str(active / "bin/python"),
        "pytest of the activated environment",
    )
    assert not command.needs_consent
    for environ in ({"VIRTUAL_ENV": sys.prefix}, {"VIRTUAL_ENV": "/nowhere"}, {}):
        command = made(files, **environ)
        assert command is not None
        assert command.source == "pytest of .venv"


def test_only_the_projects_own_commands_are_asked_for(made: Made) -> None:
    """Cargo and pytest are the user's; what ``npm test`` and make run stands in the project."""
    asked = [
        command is not None and command.needs_consent
        for command in (
            made({"Cargo.toml": ""}, "cargo"),
            made({"test_a.py": ""}, "pytest"),
            made({"package.json": package("rm -rf x")}, "npm"),
            made({"Makefile": "test:\n"}, "make"),
            made({"tox.ini": "[testenv]"}, "tox"),
        )
    ]
    assert asked == [False, False, True, True, True]
    one, two = (made({"package.json": package(text)}, "npm") for text in ("jest", "rm -rf x"))
    assert one is not None
    assert two is not None
    assert (one.source, two.source) == ("package.json: jest", "package.json: rm -rf x")
    assert one.content != two.content


def test_a_program_in_the_workspace_is_none_of_the_users(tmp_path: Path) -> None:
    (tmp_path / "Cargo.toml").touch()
    (tmp_path / "cargo").write_text("#!/bin/sh\n")
    (tmp_path / "cargo").chmod(0o755)
    command = find_runner(Project(tmp_path, {"PATH": f"{tmp_path}:."}), 60.0)
    assert command is not None
    assert command.argv == ()


@each(
    "file, packages, arguments",
    [
        ("test_a.py", "", ()),
        ("tests/test_a.py", "tests", ()),
        ("tests/test_a.py", "", ("discover", "-s", "tests")),
        (
            "src/pkg/tests/test_a.py",
            "src/pkg src/pkg/tests",
            ("discover", "-s", "src/pkg/tests", "-t", "src"),
        ),
    ],
)
def test_without_pytest_unittest_runs_its_own_tests(
    made: Made, tmp_path: Path, file: str, packages: str, arguments: tuple[str, ...]
) -> None:
    inits = {f"{package}/__init__.py": "" for package in packages.split()}
    command = made({file: ITS_OWN, **inits})
    assert command is not None
    assert command.argv == (sys.executable, "-m", "unittest", *arguments)
    root = max(tmp_path.glob("work*"), key=lambda folder: folder.stat().st_mtime_ns)
    ran = subprocess.run(command.argv, cwd=root, capture_output=True, text=True, check=False)
    assert ran.returncode == 1
    assert "Ran 1 test " in ran.stderr


@each(
    "name, text, found",
    [
        ("pytest.ini", "", True),
        ("pyproject.toml", "[tool.pytest.ini_options]\n", True),
        ("pyproject.toml", "[project]\n", False),
        ("setup.cfg", "[tool:pytest]\n", True),
        ("a_test.py", "", True),
        ("node_modules/test_x.py", "", False),
        (".hidden/test_x.py", "", False),
    ],
)
def test_what_counts_as_tests(
    tmp_path_factory: pytest.TempPathFactory, name: str, text: str, found: bool
) -> None:
    root = tmp_path_factory.mktemp("work")
    (root / name).parent.mkdir(exist_ok=True)
    (root / name).write_text(text)
    assert Project(root).has_tests is found


@each(
    "files, output, fault, step",
    [
        (
            {"requirements.txt": "flask"},
            "E   ModuleNotFoundError: No module named 'flask'",
            "the module flask is not installed in .venv",
            ".venv/bin/python -m pip install -r requirements.txt",
        ),
        (
            {"pyproject.toml": '[dependency-groups]\ntests = ["freezegun>1"]\n'},
            "E   ModuleNotFoundError: No module named 'freezegun'",
            "the module freezegun is not installed in .venv",
            ".venv/bin/python -m pip install freezegun",
        ),
        (
            {"pyproject.toml": '[project]\ndependencies = ["flask>1"]\n'},
            "E   ModuleNotFoundError: No module named 'flask.x'",
            "the module flask.x is not installed in .venv",
            ".venv/bin/python -m pip install -e .",
        ),
        (
            {"pyproject.toml": "[project]", "src/app/web.py": ""},
            "E   ModuleNotFoundError: No module named 'app.web'",
            "the project itself is not installed in .venv (no module app.web)",
            ".venv/bin/python -m pip install -e .",
        ),
        ({"app/__init__.py": ""}, "E   ModuleNotFoundError: No module named 'app.web'", "", ""),
        ({}, "E   assert 1 == 2", "", ""),
        (
            {},
            "/x/.venv/bin/python: No module named pytest",
            "pytest is not installed in .venv",
            ".venv/bin/python -m pip install pytest",
        ),
        ({}, "no tests ran in 0.01s", "no tests were found", "put tests in files named test_*.py"),
        (
            {},
            "\n\nno tests ran in 0.01s\nERROR: file or directory not found: tests/test_x.py\n",
            "there is no tests/test_x.py",
            "name tests that are there, or verify without a name",
        ),
        (
            {},
            "ERROR: not found: /x/test_a.py::test_b\n(no match in any of [<Module test_a.py>])\n",
            "there is no /x/test_a.py::test_b",
            "name tests that are there, or verify without a name",
        ),
        (
            {},
            "ERROR: usage: pytest [options]\npytest: error: unrecognized arguments: --cov=x -n 4\n",
            "pytest does not know --cov=x -n 4",
            "install the plugin that does, or take it out of pytest's settings",
        ),
        (
            {},
            "ERROR: Missing required plugins: pytest-foo\n",
            "pytest-foo is not installed in .venv",
            ".venv/bin/python -m pip install pytest-foo",
        ),
        (
            {},
            "ERROR: /x/pytest.ini: 'minversion' requires pytest-99.0, actual pytest-9.0.3'\n",
            "pytest cannot use /x/pytest.ini: 'minversion' requires pytest-99.0, "
            "actual pytest-9.0.3'",
            "mend that file",
        ),
        (
            {},
            "ERROR: /x/pytest.ini:1: unexpected value continuation\n",
            "pytest cannot use /x/pytest.ini:1: unexpected value continuation",
            "mend that file",
        ),
        (
            {},
            "\n2 deselected in 0.17s\n",
            "all tests were deselected",
            "look for -k and -m in pytest's settings",
        ),
        (
            {},
            "!!!!!! KeyboardInterrupt !!!!!!\n/x/a.py:2: KeyboardInterrupt\n1 passed in 0.4s\n",
            "the tests were ended from within: KeyboardInterrupt",
            "look for what ends them in the code that is tested",
        ),
    ],
)
def test_a_run_that_could_not_judge_says_the_next_step(
    made: Made, files: dict[str, str], output: str, fault: str, step: str
) -> None:
    command = made({"test_a.py": "", ".venv/bin/python": "", PYTEST: "", **files})
    assert command is not None
    assert command.reader is not None
    report = command.reader(output, False)
    assert (report.fault, report.step) == (fault, step)


def test_what_a_change_broke_in_what_conftest_imports_is_a_failure(made: Made) -> None:
    command = made({"test_a.py": "", "conftest.py": "", "app.py": "", **WITH_PYTEST})
    assert command is not None
    assert command.reader is not None
    said = "ImportError while loading conftest '/x/conftest.py'.\nconftest.py:1: in <module>\n"
    said += (
        "    import app\napp.py:2: in <module>\n    foo\nE   NameError: name 'foo' is not defined"
    )
    report = command.reader(said, False)
    assert report.fault == "conftest.py could not be imported"
    failed = FailedTest("conftest", "app.py", 1, "NameError: name 'foo' is not defined", said)
    assert brought_in(report, {"app.py"}) == RunReport((failed,))


@each(
    "path, module, is_failure",
    [
        ("a.py", "a", True),
        ("src/shop/cart.py", "shop.cart", True),
        ("shop/__init__.py", "shop", True),
        ("shop/cart.py", "art", False),
        ("a.py", "flask", False),
    ],
)
def test_a_module_that_a_change_took_away_is_no_fault_of_the_environment(
    path: str, module: str, is_failure: bool
) -> None:
    one = FailedTest("test_x", "test_x.py", detail=f"No module named '{module}'")
    report = RunReport((one,), fault="it is not installed", step="install it")
    assert (brought_in(report, {path}) == RunReport((one,))) is is_failure


@each(
    "files, program, path",
    [
        (WITH_PYTEST, "just", "shop/tests.py"),
        (WITH_PYTEST, "just", "shop/cart_tests.py"),
        (WITH_PYTEST, "just", "shop/conftest.py"),
        (JEST, "npm", "src/__snapshots__/a.test.js.snap"),
        (JEST, "npm", "src/__mocks__/http.js"),
        (JEST, "npm", "src/setupTests.ts"),
    ],
)
def test_who_changes_these_changes_the_judge(
    made: Made, files: dict[str, str], program: str, path: str
) -> None:
    command = made(files, program)
    assert command is not None
    assert command.judges_by(path)
    assert not command.judges_by("src/cart.py")


@each(
    "output",
    [
        "No tests found, exiting with code 1\nRun with `--passWithNoTests` to exit with code 0\n",
        "No test files found, exiting with code 1\n",
    ],
)
def test_a_file_that_no_test_of_jest_or_vitest_reaches_is_not_red(made: Made, output: str) -> None:
    command = made(JEST, "npm")
    assert command is not None
    assert command.reader is not None
    report = command.reader(output, False)
    assert (report.fault, report.counts) == ("no test files were found", RunCounts())


@each(
    "files, output, fault",
    [
        (WITH_PYTEST, "", "pytest was ended before it said which tests ran"),
        (WITH_PYTEST, "2 passed in 0.01s\n", ""),
        (WITH_PYTEST, "12 skipped in 0.01s\n", "nothing ran: 12 skipped"),
        (
            WITH_PYTEST,
            "2 skipped, 1 xfailed in 0.01s\n",
            "no test passed: 3 skipped or expected to fail",
        ),
        (WITH_PYTEST, "1 passed, 2 skipped in 0.01s\n", ""),
        (WITH_PYTEST, "1 xpassed in 0.01s\n", ""),
        (
            {"test_a.py": ITS_OWN},
            "Ran 3 tests in 0.1s\n\nOK (skipped=3)\n",
            "nothing ran: 3 skipped",
        ),
        (
            {"test_a.py": ITS_OWN},
            "Ran 2 tests in 0.1s\n\nOK (expected failures=2)\n",
            "no test passed: 2 skipped or expected to fail",
        ),
        ({"justfile": "test:\n true\n"}, "", ""),
        ({"justfile": "test:\n true\n"}, "1..4\nok 1 - a\nok 2\n", "2 of 4 tests said nothing"),
        ({"justfile": "test:\n true\n"}, "ok 1 - a\nok 2 # SKIP\n1..2\n", ""),
        ({"justfile": "test:\n true\n"}, "TAP version 14\n1..2\n", "2 of 2 tests said nothing"),
        ({"justfile": "test:\n true\n"}, "counting\n1..10\n", ""),
        ({"test_a.py": ITS_OWN}, "1..10\n.\nRan 1 test in 0.1s\n\nOK\n", ""),
        ({"justfile": "test:\n true\n"}, "ok 1 - a\n1..1\nok 1 - b\n1..1\n", ""),
        (
            {"justfile": "test:\n true\n"},
            "test result: ok. 0 passed; 0 failed; 0 ignored; 0 measured\n",
            "no tests were found",
        ),
    ],
)
def test_an_exit_status_of_0_without_a_result_is_no_green_verdict(
    made: Made, files: dict[str, str], output: str, fault: str
) -> None:
    command = made(files, "just", "python3")
    assert command is not None
    assert command.reader is not None
    assert command.reader(output, True).fault == fault


@each(
    "files, output, failed",
    [
        (
            MAKE,
            "--- FAIL: TestPut (0.00s)\n    a_test.go:3: no\nFAIL\nFAIL\tapp\t0.01s\n",
            "TestPut",
        ),
        (MAKE, "1..2\nok 1 - adds\nnot ok 2 - takes\n", "takes"),
        (MAKE, "1..2\nok 1 adds\nnot ok 2 takes # TODO later\n", ""),
        (
            {**MAKE, "test_a.py": ""},
            "test_a.py F\nFAILED test_a.py::test_put - assert 1 == 2\n",
            "test_put",
        ),
        (MAKE, "a.go:3: note: declared here\nerror: this is logged\n", ""),
        (NODE, "# tests 2\n# pass 1\n# fail 1\n", None),
        (
            NODE,
            "ℹ tests 2\nℹ suites 0\nℹ pass 1\nℹ fail 0\nℹ cancelled 1\nℹ skipped 0\nℹ todo 0\n",
            None,
        ),
    ],
)
def test_failures_that_are_told_count_whatever_the_exit_status(
    made: Made, files: dict[str, str], output: str, failed: str | None
) -> None:
    """As where a recipe pipes its tests into another program; None: only the number is told."""
    command = made(files, "just", "npm")
    assert command is not None
    assert command.reader is not None
    report = command.reader(output, True)
    assert [one.name for one in report.failed] == [failed] * bool(failed)
    red = verdict_of(RunResult(0, 0.1), report) == "failed"
    assert red == (failed != "")


@pytest.mark.slow
def test_a_run_of_real_tests_is_read_from_its_junit_report(
    tmp_path: Path,
) -> None:
    """One test fails for the lack of a module, one by itself: that is a red verdict."""
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests/test_a.py").write_text("def test_a():\n    import no_such_module\n")
    command = find_runner(Project(tmp_path, {}), 60.0)
    assert command is not None
    assert command.reader is not None
    words = (*command.argv, *command.options, "-p", "no:cacheprovider")

    def run() -> str:
        ran = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
        return ran.stdout

    report = command.reader(run(), False)
    assert report.fault == "the module no_such_module is not installed in the Python of duetto"
    (tmp_path / "tests/test_b.py").write_text("def test_b():\n    assert 1 == 2\n")
    report = command.reader(run(), False)
    assert report.fault == ""
    assert [(one.name, one.path, one.line) for one in report.failed] == [
        ("test_a", "tests/test_a.py", 1),
        ("test_b", "tests/test_b.py", 1),
    ]
    assert not Path(command.options[0].partition("=")[2]).exists()


@each(
    "files, program, output, fault",
    [
        (GO, "go", "ok  \ta\t0.002s\n", "the package a were ended"),
        (
            GO,
            "go",
            "=== RUN   T\n--- PASS: T (0.00s)\nPASS\nok  \tb\t0.1s\nok  \ta\t0.1s\n",
            "a were",
        ),
        (GO, "go", "--- PASS: T (0.00s)\nPASS\ncoverage: 3% of statements\nok  \ta\t0.1s\n", ""),
        (GO, "go", "--- PASS: T (0.00s)\nPASS\nok  \ta\t(cached)\n?   \tb\t[no test files]\n", ""),
        (
            GO,
            "go",
            "testing: warning: no tests to run\nPASS\nok  \ta\t0.1s [no tests to run]\n",
            "no tests were found",
        ),
        (
            CARGO,
            "cargo",
            "running 2 tests\n   Doc-tests a\n\nrunning 0 tests\n\n" + RAN,
            "were ended",
        ),
        (CARGO, "cargo", f"running 1 test\n{RAN}running 2 tests\n", "were ended"),
        (CARGO, "cargo", f"running 1 test\n{RAN}\nrunning 1 test\n{RAN}", ""),
        (CARGO, "cargo", f"running 1 test\n[4,000 bytes left out]\n{RAN}", ""),
        (
            WITH_PYTEST,
            "just",
            f"{PYTEST_EXIT}\n1 passed in 0.41s\n",
            "from within: _pytest.outcomes.Exit: x",
        ),
        (JEST, "npm", '  ●  process.exit called with "0"\n', "jest was ended"),
        (JEST, "npm", "PASS a.test.js\nTests:       1 passed, 1 total\n", ""),
        (NODE_TEST, "npm", f"ok 1 - a.test.js\n  ---\n{TAP}", "tests of a.test.js were ended"),
        (NODE_TEST, "npm", f"✔ a.test.js (7.1ms)\n{SPEC}", "tests of a.test.js were ended"),
        (NODE_TEST, "npm", f"ok 1 - one\n{TAP}", ""),
        (PLAIN_NODE, "npm", f"ok 1 - a.test.js\n{TAP}", ""),
        (
            NODE,
            "npm",
            f"# Subtest: c\n    # Subtest: one\n    ok 1 - one\n{TAP}",
            "tests of c were",
        ),
        (NODE, "npm", f"# Subtest: c\n    # Subtest: d\n    ok 1 - d\nok 1 - c # SKIP\n{TAP}", ""),
        (NODE, "npm", f"# Subtest: c\n[4,000 bytes left out]\n{TAP}", ""),
        (NODE, "npm", f"▶ c\n  ✔ one (6.1ms)\n{SPEC}", "tests of c were ended"),
        (NODE, "npm", f"▶ c\n  ✔ one (6.1ms)\n▶ c (8.1ms)\n\n{SPEC}", ""),
        (NODE, "npm", f"▶ c\n  ✔ one (6.1ms)\n✔ c (8.1ms)\n{SPEC}", ""),
        (NODE, "npm", "▶ builds\n", ""),
        (MOCHA, "npm", "\n\n  Array\n    ✔ adds\n", "mocha was ended"),
        (MOCHA, "npm", "\n\n  Array\n    ✔ adds\n\n\n  1 passing (3ms)\n", ""),
        (MOCHA, "npm", "> a@1.0.0 test\n> mocha\n\n", ""),
    ],
)
def test_tests_that_an_exit_of_0_ended_are_not_green(
    made: Made, files: dict[str, str], program: str, output: str, fault: str
) -> None:
    command = made(files, program)
    assert command is not None
    assert command.reader is not None
    found = command.reader(output, True).fault
    assert fault in found if fault else not found


def test_what_only_the_output_of_vitest_says_is_told(made: Made) -> None:
    """Its report has no word of hooks that failed, nor of an error outside of a test."""
    files = {"package.json": package("vitest run"), "a.test.js": "", "b.test.js": ""}
    command = made(files, "npm")
    assert command is not None
    assert command.reader is not None
    test = {"title": "t", "status": "failed", "ancestorTitles": [], "failureMessages": ["no"]}
    tests = [test, {**test, "title": "u", "status": "skipped"}]
    results = [
        {"name": "a.test.js", "status": "failed", "message": "", "assertionResults": tests},
        {"name": "b.test.js", "status": "failed", "message": "", "assertionResults": tests[1:]},
    ]
    Path(command.report_file).write_text(json.dumps({"testResults": results}))
    output = (
        " FAIL  a.test.js > t\nno\n\n FAIL  b.test.js > s\nError: setup broke\n ❯ b.test.js:2:42\n"
        "⎯⎯⎯⎯⎯⎯ Unhandled Errors ⎯⎯⎯⎯⎯⎯\n\nVitest caught 1 unhandled error.\n\n"
        "⎯⎯⎯⎯⎯ Uncaught Exception ⎯⎯⎯⎯⎯\nError: boom\n ❯ Timeout._onTimeout a.test.js:3:39\n"
    )
    assert [one[:4] for one in command.reader(output, False).failed] == [
        ("t", "a.test.js", 0, "no"),
        ("b.test.js > s", "b.test.js", 1, "Error: setup broke"),
        ("Uncaught Exception", "a.test.js", 2, "Error: boom"),
    ]


@each(
    "files, program, option",
    [
        (WITH_PYTEST, "just", "--maxfail=0"),
        (JEST, "npm", "--bail=0"),
        ({"package.json": package("vitest run")}, "npm", "--bail=0"),
    ],
)
def test_all_tests_run_although_one_fails(
    made: Made, files: dict[str, str], program: str, option: str
) -> None:
    """Where one failed before any change, nothing is known of those behind it else."""
    command = made(files, program)
    assert command is not None
    assert option in command.options
