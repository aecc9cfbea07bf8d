"""The row under the prompt: what Enter will do now, and what else can be done with the draft."""

from __future__ import annotations

from tui.engine.session import Session
from tui.ui import theme
from tui.ui.commands import completions, find_command, split_command
from tui.ui.rows import Piece, clip, one_line
from tui.ui.widgets.bar import Bar
from tui.ui.widgets.prompt import Prompt

_TIPS = (
    "@ names a file",
    "! runs a command",
    "/help lists all commands",
    "F2 or Alt+M: fast ↔ deep",
    "Shift+Tab: up into the conversation",
)
_COLOURS = {"redirect": "fast", "queue": "deep", "run": "warning", "answer": "warning"}


class Hint(Bar):
    """Reads session and prompt; shown beside the draft at every moment."""

    def __init__(self, session: Session, prompt: Prompt, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._session = session
        self._prompt = prompt

    def pieces(self, width: int) -> list[Piece]:
        """The label, then hints."""
        palette = theme.active()
        label, words = self._label()
        chip = palette.style(_COLOURS.get(label, "accent"), more="bold")
        pieces: list[Piece] = [(f"  ⏎ {label}", chip)]
        room = width - 5 - len(label)
        if room > 6:
            pieces.append((f"  {clip(words, room - 2)}", palette.style("faint")))
        return pieces

    def _label(self) -> tuple[str, str]:
        """What Enter does in a word, and the rest."""
        draft = self._prompt.text
        if self._session.status.asks and not self._prompt.has_focus:
            return "answer", "1-9 · Esc refuses · Tab: prompt"
        if found := completions(draft):
            first = found[0]
            if len(found) == 1 or draft[1:] == first.name:
                return "run", f"/{first.name} {first.argument}  {first.help}"
            return "run", "  ".join(f"/{command.name}" for command in found)
        if (parts := split_command(draft)) is not None:
            command = find_command(parts[0])
            return "run", f"{command.argument}  {command.help}" if command else "unknown command"
        if draft.startswith("!"):
            return "run", "as a command in the workspace"
        if matches := self._prompt.matches():
            return self._session.prompt_label(), "Tab: " + "  ".join(map(one_line, matches))
        return self._session.prompt_label(), self._usual()

    def _usual(self) -> str:
        prompt, status = self._prompt, self._session.status
        if status.busy:
            queue = "Tab queues · " if prompt.text.strip() else ""
            return f"{queue}Esc stops"
        if status.running:
            return "Esc stops the command"
        if status.can_send_failure and not prompt.text:
            return "Alt+S sends the failure"
        if prompt.suggestion_shown:
            at = prompt.offered.index(prompt.suggestion_shown) + 1
            more = f" · ↓ {at} of {len(prompt.offered)}" if len(prompt.offered) > 1 else ""
            return f"Tab takes the suggestion{more}"
        if prompt.text:
            return "Shift+Enter or Ctrl+J: new line"
        return _TIPS[len(prompt.past.entries) % len(_TIPS)]
