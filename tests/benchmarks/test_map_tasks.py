"""The tasks that the map is measured by are there, and it knows more of them than the listing."""

from __future__ import annotations

from tests.benchmarks.map_tasks import projects, share
from tui.core.project_map import ProjectIndex, Seeds


def test_the_map_names_more_of_the_needed_files_than_the_listing() -> None:
    found = projects()
    assert {len(project.tasks) for project in found.values()} == {120}
    caddy, index = found["caddy"], ProjectIndex()
    index.list_files(caddy.files)
    for path, facts in caddy.files.items():
        index.learn(path, facts)
    listed = share(caddy.tasks, lambda subject: sorted(caddy.files), 2000)
    mapped = share(caddy.tasks, lambda subject: index.ranked(Seeds(subject)), 1000)
    assert mapped > 0.8 > 0.3 > listed
