"""Which part of a project is judged when some of its files changed."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.tables import each
from tui.cli.verifiers.finding import find_verifiers
from tui.cli.verifiers.project import Project
from tui.cli.workspace_commands import find_verifiers as configured
from tui.core.run_report import FailedTest
from tui.engine.ports import Part, VerifyCommand
from tui.settings import parse

PYTHON = {
    "pyproject.toml": "[tool.ruff]\n[tool.mypy]\n",
    "src/cache.py": "def put(): ...\n",
    "src/deep.py": "from cache import put\n",
    "src/app/__init__.py": "",
    "src/app/web.py": "from app.other import x\n",
    "src/app/other.py": "x = 1\n",
    "tests/test_cache.py": "from cache import put\n",
    "tests/test_deep.py": "import deep\n",
    "tests/test_web.py": "from app import web\n",
    "tests/test_rest.py": "import os\n",
}
GO = {
    "go.mod": "module example.org/app\n",
    "cache/cache.go": "package cache\n",
    "cache/cache_test.go": "package cache\n",
    "web/web.go": 'package web\n\nimport "example.org/app/cache"\n',
    "web/web_test.go": "package web\n",
    "rest/rest_test.go": "package rest\n",
}
CARGO = {
    "Cargo.toml": '[workspace]\nmembers = ["a", "b"]\n',
    "a/Cargo.toml": '[package]\nname = "one"\n',
    "b/Cargo.toml": '[package]\nname = "two"\n',
}
JEST = {"package.json": '{"scripts": {"test": "jest --ci"}}', "node_modules/.bin/jest": "#!"}
VITEST = {"package.json": '{"scripts": {"test": "vitest"}}', "node_modules/.bin/vitest": "#!"}
PROGRAMS = ("pytest", "ruff", "mypy", "go", "cargo", "npm")


def project(root: Path, files: dict[str, str]) -> Project:
    for name, text in files.items():
        file = root / "work" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        if text == "#!":
            file.chmod(0o755)
    (root / "bin").mkdir()
    for name in PROGRAMS:
        (root / "bin" / name).write_text("#!/bin/sh\n")
        (root / "bin" / name).chmod(0o755)
    return Project(root / "work", {"PATH": str(root / "bin")})


def of(found: list[VerifyCommand], name: str) -> VerifyCommand:
    return next(one for one in found if one.name == name)


def behind(command: VerifyCommand | None) -> str | None:
    """The words behind the program; None: nothing runs."""
    return None if command is None else " ".join(command.argv[1:])


@each(
    "files, name, changed, words",
    [
        (
            PYTHON,
            "pytest",
            "src/cache.py",
            "-q tests/test_cache.py tests/test_deep.py",
        ),
        (PYTHON, "pytest", "src/app/other.py", "-q tests/test_web.py"),
        (PYTHON, "pytest", "tests/test_rest.py", "-q tests/test_rest.py"),
        (
            PYTHON,
            "pytest",
            "tests/test_new.py src/app/web.py",
            "-q tests/test_new.py tests/test_web.py",
        ),
        (PYTHON, "pytest", "pyproject.toml", None),
        (PYTHON, "pytest", "README.md", None),
        (
            PYTHON,
            "ruff",
            "src/cache.py README.md",
            "check --output-format=concise --no-fix src/cache.py",
        ),
        (PYTHON, "ruff", "README.md", None),
        (GO, "go", "cache/cache.go", "test ./cache ./web"),
        (GO, "go", "rest/rest_test.go", "test ./rest"),
        (GO, "go", "data.txt", None),
        (CARGO, "cargo", "a/src/lib.rs", "test --no-fail-fast -p one"),
        (CARGO, "cargo", "src/main.rs", None),
        (CARGO, "cargo", "a/src/lib.rs b/src/lib.rs", None),
        (JEST, "jest", "src/sum.js", "--findRelatedTests src/sum.js"),
        (VITEST, "vitest", "src/sum.ts README.md", "related --run src/sum.ts"),
    ],
)
def test_what_belongs_to_a_change(
    tmp_path_factory: pytest.TempPathFactory,
    files: dict[str, str],
    name: str,
    changed: str,
    words: str | None,
) -> None:
    found = find_verifiers(project(tmp_path_factory.mktemp("part"), files), 60.0)
    part = of(found, name).part
    assert part is not None
    assert behind(part(Part(changed=tuple(changed.split())))) == words


def test_folders_of_go_without_tests_are_looked_at_and_not_tested(tmp_path: Path) -> None:
    """`go test` says of them that there are none; `go vet` needs a file that is left."""
    found = find_verifiers(project(tmp_path, {**GO, "tool/main.go": "package main\n"}), 60.0)
    tests, looks = of(found, "go").part, of(found, "vet").part
    assert tests is not None
    assert looks is not None
    assert behind(looks(Part(changed=("tool/main.go",)))) == "vet ./tool"
    assert tests(Part(changed=("tool/main.go",))) is None
    gone = Part(changed=("tool/main.go",), gone=("tool/main.go",))
    assert (tests(gone), looks(gone)) == (None, None)


def test_what_imports_what_is_told_by_the_screen(tmp_path: Path) -> None:
    """A file that waits imports what changed; another one does not any more, or is gone."""
    texts: dict[str, bytes | None] = {
        "tests/test_rest.py": b"from app import other\n",
        "tests/test_fresh.py": b"import app.other\n",
        "src/app/web.py": b"x = 1\n",
        "tests/test_cache.py": None,
    }
    part = of(find_verifiers(project(tmp_path, PYTHON), 60.0), "pytest").part
    assert part is not None
    other, cache = ("src/app/other.py",), ("src/cache.py",)
    small = part(Part(changed=other, texts=texts))
    assert behind(small) == "-q tests/test_fresh.py tests/test_rest.py"
    assert behind(part(Part(changed=other))) == "-q tests/test_web.py"
    assert behind(part(Part(changed=cache, texts=texts))) == "-q tests/test_deep.py"


def test_failed_tests_run_alone_each_time_with_a_report_of_their_own(tmp_path: Path) -> None:
    found = find_verifiers(project(tmp_path, PYTHON), 60.0)
    tests = of(found, "pytest")
    assert tests.part is not None
    failed = tuple(FailedTest(name, id=f"tests/test_a.py::{name}") for name in ("a", "b"))
    one, two = (tests.part(Part(failed=failed)) for _ in range(2))
    assert one is not None
    assert two is not None
    assert behind(one) == "-q tests/test_a.py::a tests/test_a.py::b"
    assert len({tests.report_file, one.report_file, two.report_file}) == 3
    assert tests.part(Part(failed=(FailedTest("a"),))) is None, "its id is not known"


def test_what_a_script_is_given_stands_behind_dashes(tmp_path: Path) -> None:
    jest = of(find_verifiers(project(tmp_path, JEST), 60.0), "jest")
    assert (jest.argv[1:], jest.options[:2]) == (("test",), ("--", "--json"))
    assert jest.part is not None
    again = jest.part(Part(failed=(FailedTest("a", id="src/a.test.js"),)))
    assert again is not None
    assert again.argv[1:] == ("test", "--", "src/a.test.js")
    assert again.options[0] == "--json"


@pytest.mark.parametrize(
    ("schema", "name"),
    [
        (
            """CREATE TABLE file (id, path); CREATE TABLE context (id, context);
            CREATE TABLE line_bits (file_id, context_id, numbits);
            INSERT INTO file VALUES (1, '{root}/src/cache.py'), (2, '{root}/src/app/other.py');
            INSERT INTO context VALUES (1, 'tests/test_rest.py::test_a|run'),
                (2, 'tests.test_cache.test_put'), (3, '');
            INSERT INTO line_bits VALUES (1, 1, ''), (1, 3, ''), (2, 2, '');""",
            ".coverage",
        ),
        (
            """CREATE TABLE file_fp (id, filename); CREATE TABLE test_execution (id, test_name);
            CREATE TABLE test_execution_file_fp (test_execution_id, fingerprint_id);
            INSERT INTO file_fp VALUES (1, 'src/cache.py'), (2, 'src/app/other.py');
            INSERT INTO test_execution VALUES (1, 'tests/test_rest.py::test_a'),
                (2, 'tests/test_cache.py::test_put');
            INSERT INTO test_execution_file_fp VALUES (1, 1), (2, 2);""",
            ".testmondata",
        ),
    ],
)
def test_a_map_of_earlier_runs_knows_better_than_imports(
    tmp_path: Path, schema: str, name: str
) -> None:
    """For the tests that it knows; ``test_deep`` is new."""
    found = find_verifiers(project(tmp_path, PYTHON), 60.0)
    with sqlite3.connect(tmp_path / "work" / name) as made:
        made.executescript(schema.format(root=tmp_path / "work"))
    part = of(found, "pytest").part
    assert part is not None
    words = behind(part(Part(changed=("src/cache.py",))))
    assert words == "-q tests/test_deep.py tests/test_rest.py"
    (tmp_path / "work" / name).write_bytes(b"SQLite format 3\0 broken")
    words = behind(part(Part(changed=("src/cache.py",))))
    assert words == "-q tests/test_cache.py tests/test_deep.py"


def test_linters_and_types_are_found_where_the_project_sets_them_up(tmp_path: Path) -> None:
    root = tmp_path / "one"
    root.mkdir()
    found = find_verifiers(project(root, PYTHON), 60.0)
    assert [(one.kind, one.name) for one in found] == [
        ("syntax", "syntax"),
        ("lint", "ruff"),
        ("types", "mypy"),
        ("tests", "pytest"),
    ]
    assert of(found, "mypy").argv[-1] == "."
    two = tmp_path / "two"
    two.mkdir()
    files = PYTHON | {"pyproject.toml": '[tool.mypy]\nfiles = ["src"]\n'}
    found = find_verifiers(project(two, files), 60.0)
    assert [one.name for one in found] == ["syntax", "mypy", "pytest"]
    assert of(found, "mypy").argv[-1] != "."


def test_a_verifier_of_the_users_own_is_four_lines(tmp_path: Path) -> None:
    own = """
[[verify.own]]
name = "schema"
command = "check-schema {files}"
files = ["*.json"]
"""
    settings = parse(f'[verify]\nskip = ["syntax"]\n{own}', "FILE")
    (tmp_path / ".duetto").mkdir()
    (tmp_path / ".duetto/config.toml").write_text(
        '[verify]\ndeadline_s = 9\n[[verify.own]]\nname = "spell"\ncommand = ["spell", "{files}"]\n'
    )
    schema, spell = configured(tmp_path, settings)
    assert (schema.name, schema.kind, schema.needs_consent) == ("schema", "lint", False)
    assert schema.argv == "check-schema "
    assert schema.part is not None
    small = schema.part(Part(changed=("a b.json", "b.py", "c.json"), gone=("c.json",)))
    assert small is not None
    assert small.argv == "check-schema 'a b.json'"
    assert schema.part(Part(changed=("b.py",))) is None
    assert (spell.needs_consent, spell.deadline_s) == (True, 120.0), "limits are the user's own"
    assert spell.part is not None
    small = spell.part(Part(changed=("b.py", "c d.py")))
    assert small is not None
    assert small.argv == ("spell", "b.py", "c d.py")


@each(
    "name, text, said",
    [
        ("a.py", "def f(:\n", "a.py:1: invalid syntax\n"),
        ("a.py", "return 1\n", "a.py:1: 'return' outside function\n"),
        ("a.py", "x = 1\n", ""),
        ("b.json", '{"a": 1,}', "b.json:1: Expecting property name enclosed in double quotes\n"),
        ("tsconfig.json", "{} // a comment", ""),
        ("c.toml", "a = 1\nb =\n", "c.toml:2: Invalid value (at line 2, column 4)\n"),
        ("d.txt", "(", ""),
    ],
)
def test_the_syntax_of_what_changed(
    tmp_path_factory: pytest.TempPathFactory, name: str, text: str, said: str
) -> None:
    root = tmp_path_factory.mktemp("syntax")
    (root / name).write_text(text)
    syntax = of(find_verifiers(Project(root, {"PATH": ""}), 60.0), "syntax")
    assert syntax.part is not None
    command = syntax.part(Part(changed=(name, "gone.py"), gone=("gone.py",)))
    ran = ""
    if command is not None:
        assert command.argv[0] == sys.executable
        done = subprocess.run(command.argv, cwd=root, capture_output=True, text=True, check=False)
        ran = done.stdout
        assert done.returncode == bool(said)
    assert ran == said
