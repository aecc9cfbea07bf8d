"""What strangers wrote in AGENTS.md and SKILL.md is bounded, plain, and read leniently."""

from __future__ import annotations

from tests.support.tables import each
from tui.core.project_words import (
    DESCRIPTION_CHARS,
    HEAD_BYTES,
    SKILLS_LIMIT_CHARS,
    Skill,
    SkillFile,
    chosen,
    front_matter,
    shortened,
    skill_list,
    skill_of,
    text_of,
)

FRONT_MATTERS = (
    ("description: Use when: a PDF is # not a comment\n", "Use when: a PDF is"),
    ("description: see#1 and c# too\n", "see#1 and c# too"),
    ('description: "quoted: \\"so\\" \\u00e4"  # why\n', 'quoted: "so" ä'),
    ("description: 'it''s: so'\n", "it's: so"),
    ('description: "over\n  two lines"\n', "over two lines"),
    ("description: >-\n  folded\n  lines\n\n  of it\nlicense: MIT\n", "folded lines  of it"),
    ("description: |\n  kept\n  lines\n", "kept\nlines"),
    ("description:\n  below\n  it\n", "below it"),
    ("metadata:\n  description: another\nDescription: this\n", "this"),
    ("description: first\ndescription: second\n", "first"),
    ("- a\n{]: x\n\tdescription: no\n: y\n", ""),
    ('description: "never closed\n', '"never closed'),
)


@each("text, expected", FRONT_MATTERS)
def test_front_matter_is_read_as_people_write_it(text: str, expected: str) -> None:
    found, body = front_matter(f"---\n{text}---\nbody\n")
    assert (found.get("description", ""), body) == (expected, "body\n")


@each(
    "text", ("# A\nno front matter\n", "---\nname: x\nno end\n", "", "\n\n", "----\nname: x\n---\n")
)
def test_a_text_without_front_matter_is_all_text(text: str) -> None:
    assert front_matter(text) == ({}, text)


def skill(head: str | bytes, folder: str = "/w/.agents/skills/pdf") -> Skill:
    data = head.encode() if isinstance(head, str) else head
    path = f"{folder.removeprefix('/w/')}/SKILL.md"
    return skill_of(SkillFile(path, folder, data))


def test_folder_and_text_stand_in_for_what_is_not_said() -> None:
    found = skill("# Reading PDFs\n\nFill forms \x1b[31mand\x1b[0m read.\n")
    assert (found.name, found.description, found.problem) == ("pdf", "Fill forms and read.", "")
    assert skill("---\nname: a/b\n  c\n---\n").name == "a-b c"
    assert skill(b"PK\x03\x04\x00").problem == "it is not text"
    assert skill("---\nname: x\n---\n# Title\n").problem
    long = f"---\nname: y\ndescription: {'d ' * HEAD_BYTES}"[:HEAD_BYTES]
    assert (skill(long).name, skill(long).description[:3]) == ("y", "d d")
    assert skill(b"---\nname: x\ndescription: caf\xe9\n---\n").description == "caf\ufffd"
    assert skill("---\ndescription: x\ndisable-model-invocation: true\n---\n").problem


def test_of_one_name_the_first_holds_and_one_folder_is_one_skill() -> None:
    text = "---\nname: pdf\ndescription: d\n---\n"
    found = chosen(
        [skill(text), skill(text), skill(text, "/home/u/x"), skill("", "/w/y"), skill(text, "/w/y")]
    )
    assert [(one.file.folder, bool(one.problem)) for one in found] == [
        ("/w/.agents/skills/pdf", False),
        ("/home/u/x", True),
        ("/w/y", True),
    ]


@each("count, chars", [(3, 50), (30, 2000), (150, 1000), (5000, 1000)])
def test_the_list_of_skills_keeps_to_its_bound(count: int, chars: int) -> None:
    skills = [
        skill(f"---\nname: skill-{n}\ndescription: {'x' * chars}\n---\n", f"/w/{n}")
        for n in range(count)
    ]
    listed = skill_list(skills)
    assert len(listed) <= SKILLS_LIMIT_CHARS + 50
    assert "- skill-0" in listed
    assert ("more skills are not listed" in listed) == (count == 5000)
    assert len(skills[0].description) <= DESCRIPTION_CHARS


def test_the_middle_of_a_long_text_is_left_out_with_a_count() -> None:
    text = shortened("a" * 700_000 + "b" * 300_000, 30_000, "read_file A reads them")
    assert text.startswith("a" * 20_000)
    assert text.endswith("b" * 10_000)
    assert "[970,000 characters left out here; read_file A reads them]" in text
    assert text_of(b"\xef\xbb\xbfone\r\ntwo\rthree\x1b]0;x\x07\n") == "one\ntwo\nthree"
    assert text_of(b"a\0") is None
