"""A change that looks made for a test says why; an honest one says nothing."""

from __future__ import annotations

from tests.support.tables import each
from tui.engine.fixing import made_for_tests

PYTEST = """\
    def test_double():
>       assert double(4) == 8
E       assert 12 == 8
E        +  where 12 = double(4)

test_calc.py:5: AssertionError
"""
UNITTEST = """\
Traceback (most recent call last):
  File "/w/test_calc.py", line 44, in test_greet
    self.assertEqual(greet("Ann"), "Hello, Ann!")
AssertionError: 'Hi' != 'Hello, Ann!'
"""
JEST = "Error: expect(received).toBe(expected)\n    expect(double(4)).toBe(8)\n at /w/c.js:31:7"
BEFORE = "    return x * 3\n"


@each(
    "after, detail, words",
    [
        (f"    if x == 4:\n        return 8\n{BEFORE}", PYTEST, "it returns 8 for 4"),
        ("    return 8 if x == 4 else x * 3\n", PYTEST, "it returns 8 for 4"),
        ("    return {4: 8}.get(x, x * 3)\n", PYTEST, "it returns 8 for 4"),
        ("    match x:\n        case 4:\n            return 8\n", PYTEST, "it returns 8 for 4"),
        ("  if (x === 4) {\n    return 8;\n  }\n", JEST, "it returns 8 for 4"),
        ("        4 => 8,\n", JEST, "it returns 8 for 4"),
        (
            "    if name in ('Ann',):\n        return 'Hello, Ann!'\n",
            UNITTEST,
            "it returns 'Hello, Ann!' for 'Ann'",
        ),
        (
            "    return 8 if 'PYTEST_CURRENT_TEST' in os.environ else x\n",
            PYTEST,
            "it asks for PYTEST_CURRENT_TEST",
        ),
        ("    if 'pytest' in sys.modules: return 8\n", PYTEST, "it asks for 'pytest'"),
        ("    caller = sys._getframe(1)\n", PYTEST, "it asks for _getframe"),
        (
            "    def __eq__(self, other):\n        return True\n",
            PYTEST,
            "it is equal to everything",
        ),
        ("    return x * 2\n", PYTEST, ""),
        ("    if x == 0:\n        return 1\n    return x * double(x - 1)\n", PYTEST, ""),
        ("    if x > 8:\n        return 8\n    return x\n", PYTEST, ""),
        ("    if size == 44:\n        return 31\n", PYTEST + UNITTEST + JEST, ""),
        ("    return {4: 8, 5: 9, 6: 11}[x]\n", PYTEST, ""),
        (f"{BEFORE}    # 4 -> 9\n", PYTEST, ""),
        ('    return f"Hello, {name}!"\n', UNITTEST, ""),
    ],
)
def test_what_looks_made_for_a_test(after: str, detail: str, words: str) -> None:
    assert made_for_tests(BEFORE, after, [detail]) == words


def test_what_was_there_before_is_not_new() -> None:
    there = "    if x == 4:\n        return 8\n    pytest = os.environ['PYTEST_CURRENT_TEST']\n"
    assert made_for_tests(there, f"{there}    return x\n", [PYTEST]) == ""
