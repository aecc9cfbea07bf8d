"""Copying out of the conversation, and stepping through what was said in it."""

from __future__ import annotations

from tui.core.turn import BlockKind
from tui.ui.conversation.layout import Stop
from tui.ui.conversation.search_pane import SearchPane
from tui.ui.conversation.views import BlockView
from tui.ui.rows import Target

_SAID = frozenset({BlockKind.USER, BlockKind.TEXT})


class CopyPane(SearchPane):
    """Messages can be selected; what is selected can be copied."""

    def action_copy_block(self) -> None:
        """Copy what is selected: code, a hunk's text, output, a message."""
        from tui.ui.conversation.copying import copied

        view = self._selected_view() or self._newest_answer()
        if view is not None:
            self._copy(*copied(self.marked, view))

    def action_copy_message(self) -> None:
        """Copy all of the message in which the selection is; without one the newest answer."""
        from tui.ui.conversation.copying import whole

        view = self._selected_view() or self._newest_answer()
        if view is not None:
            self._copy(*whole(view))

    def action_previous_message(self) -> None:
        """Select the message above."""
        self._step_message(-1)

    def action_next_message(self) -> None:
        """Select the message below."""
        self._step_message(1)

    def action_scroll_pages(self, pages: int) -> None:
        """Scroll by pages; negative is up."""
        self.scroll_pages(pages)

    def select_message(self, index: int) -> None:
        """The keys act on this message."""
        row = self.rows.pages.first_said(self.rows.views[index].first)
        self._select(Stop(row, index, Target("message", index)))
        height = self.size.height
        if not self.top <= row < self.top + height - 2:
            self.go_to(row - 1)

    def _step_message(self, step: int) -> None:
        views = self.rows.views
        if not views:
            return
        index = self._here()
        view = views[index]
        if step < 0 and self._is_said(view) and self._above(view):
            self.select_message(index)  # first to the beginning of the one that is read
            return
        index += step
        while 0 <= index < len(views) and not self._is_said(views[index]):
            index += step
        if 0 <= index < len(views):
            self.select_message(index)
        elif step > 0:
            self.action_scroll_end()

    def _here(self) -> int:
        """The block that is selected, if it is in sight; else that at the upper edge."""
        top, height = self.top, self.size.height
        if self.marked is not None and top <= self.rows.chosen < top + height:
            return max(self.rows.pages.view_at(self.rows.chosen), 0)
        last = self.follows and self.marked is None
        return max(self.rows.pages.view_at(self.rows.total - 1 if last else top), 0)

    def _above(self, view: BlockView) -> bool:
        """True if it is not this message that is selected, but something in it, or nothing."""
        message = self.marked is not None and self.marked.kind == "message"
        return not message or self.marked != Target("message", view.index)

    def _is_said(self, view: BlockView) -> bool:
        return view.block.kind in _SAID and view.block.state != "failed"

    def _selected_view(self) -> BlockView | None:
        """The block in which the selection is."""
        if self.marked is None or not self.rows.views:
            return None
        index = self.rows.pages.view_at(self.rows.chosen)
        return self.rows.views[index] if index >= 0 else None

    def _newest_answer(self) -> BlockView | None:
        answers = (view for view in reversed(self.rows.views) if view.block.kind in _SAID)
        return next(answers, None)

    def _copy(self, text: str, what: str) -> None:
        from tui.ui.conversation.copying import size_of

        if not text.strip():
            self.notify("There is nothing to copy in it.", timeout=3, markup=False)
            return
        self.app.copy_to_clipboard(text)
        self.notify(f"Copied: {what}, {size_of(text)}.", timeout=3, markup=False)
