"""``python -m tui.cli`` and the ``duetto`` script."""

from __future__ import annotations

from tui.cli import interrupts


def main() -> None:
    """Run the command line."""
    interrupts.end_at_once()
    from tui.cli.main import main as run

    run()


if __name__ == "__main__":
    main()
