"""Every action of duetto, by scope: its keys, its sentence, its words in the footer."""

from __future__ import annotations

import re
from typing import Literal, NamedTuple, cast, get_args

Scope = Literal[
    "global",
    "prompt",
    "queue",
    "conversation",
    "command",
    "review",
    "turn",
    "diff",
    "rewind",
    "editor",
    "files",
]
SCOPES: tuple[Scope, ...] = get_args(Scope)

When = Literal[
    "always",
    "idle",
    "busy",
    "stoppable",
    "pending",
    "waiting",
    "failed",
    "under",
    "editing",
    "queued",
    "asked",
    "waited",
    "redoing",
]
"""The state in which the footer shows a key: nothing streams, something does, that or a command
can be stopped, the hunk (or some) can be decided on, some wait for that or to be placed or looked
at, the last run failed and can be sent, the prompt has the focus under the editor, a hunk was
opened for editing, messages are queued, a question waits, the answer waits for a command, the
hunk is made anew."""


class Key(NamedTuple):
    """One action and the keys that reach it."""

    action: str
    keys: tuple[str, ...]
    """Textual's names of the keys; the first one is shown in the footer."""
    help: str
    """A sentence for the help screen and the docs."""
    footer: str = ""
    """One or two words for the footer; empty: not shown there."""
    when: When = "always"
    scope: Scope = "global"
    priority: bool = False
    """Taken before the focused widget sees the key, as all of the scope "global" are."""
    like: str = ""
    """Name of an action of the scope "global" whose keys do this too, in this row's scope."""
    group: str = ""
    """Its heading in the list behind the leader key; empty: that of its scope."""
    short: str = ""
    """A few words for that list; empty: the sentence, as far as there is room."""
    called: str = ""
    """Its name in ``config.toml``, where the action itself is none."""

    @property
    def name(self) -> str:
        """What ``[keys.SCOPE]`` of ``config.toml`` calls it."""
        return self.called or self.action.removeprefix("app.")


_ROWS = r"""
[global] Everywhere
interrupt | escape | stop @stoppable
    Stop the answer now; what is painted stays; with nothing streaming, close what is open;
    twice in an empty prompt: rewind to before a turn
cancel | ctrl+c
    Copy the selection; else stop the answer; else clear the draft (kept in the history); twice
    with nothing typed: quit
question | alt+n | answer @asked | Go to: the question that waits
    Go to the question over the prompt: may this command run?
accept_edited | alt+y | accept hunk @editing | Hunks: accept the edited hunk
    Accept the hunk that e opened for editing, and go on with the review
accept | alt+a | accept all @pending | Hunks: accept all hunks
    Accept all pending hunks and write the files
reject | alt+r | reject all @pending | Hunks: reject all hunks
    Reject all pending hunks and take their text back
review | alt+j | review @waiting | Hunks: next pending hunk
    Go to the next pending hunk and review it
review_turn | f7 alt+d | whole turn @waiting | Hunks: review the whole turn
    Review the whole turn: all files, all hunks, side by side; while it streams or after
send_failure | alt+s | send failure @failed | Model and tests: send the failed run
    Have the model mend what failed, try after try, until the tests pass
queue | alt+q | queue @queued | Go to: queued messages
    Go to the queued messages: edit, send or remove one
next_pane | f6 alt+o | pane | Go to: the other pane
    Move between the conversation and the editor; where only one has room: show the other
card | alt+k |  | Hunks: from lines to card, and back
    From lines in the editor to the card of the hunk that wrote them; from the card back to its
    lines
search | alt+slash |  | Go to: search the conversation
    Search the conversation
undo_turn | alt+u |  | Hunks: undo the model's turn
    Undo the model's last turn, byte for byte
pane('conversation') as show_conversation | alt+1 |  | Go to: conversation
    Show the conversation; where it is in sight: go into it
pane('editor') as show_editor | alt+2 | type in it @under | Go to: editor
    Show the editor; where it is in sight: go into it
switch | f2 alt+m | fast/deep | Model and tests: fast ↔ deep model
    Switch between the fast and the deep model, idle or in the middle of an answer
effort | f3 alt+0 |  | Model and tests: next effort
    Next reasoning effort of the current model
delegate | alt+w |  | Model and tests: delegate what streams
    Have the deep model go on with what streams, beside the conversation; with nothing streaming:
    list what is delegated
change_selection | alt+e |  | Editor: change the selection
    Ask for a change of what is selected in the editor, or of its line; what the answer changes
    elsewhere is flagged
verify | f5 alt+v | verify @idle | Model and tests: run the tests
    Run the project's tests on what the screen shows: with pending hunks and unsaved text
verify(True) as verify_disk | shift+f5 alt+shift+v |  | Model and tests: run the tests on the disk
    Run the project's tests on what is on the disk only
open_file | ctrl+o | open @idle
    Open a file by a few letters of its name
save | ctrl+s
    Save the file in the editor: your text and the accepted hunks
tree | f4 alt+t | files @idle | Go to: file tree
    The file tree with git's states: letters filter it, {files.open_row} opens,
    {files.open_beside} opens beside
split | ctrl+backslash alt+p |  | Editor: two editors, or one
    Two editors side by side, or one again; what the model writes is followed in the one that
    you are not in
other_side | alt+3 |  | Go to: the other editor
    Go to the other one of two editors
follow | alt+l | follow @busy | Editor: follow the edit
    Follow the landing edit, or let go of it
wrap | alt+z |  | Editor: wrap long lines
    Wrap long lines in the editor, or don't
removed | alt+minus |  | Editor: removed lines
    Hide the removed lines that are shown struck while a hunk is pending, or show them
app.help | f1 alt+h | help | Go to: all keys and commands
    Show all keys and commands
app.leader | ctrl+n | more @idle
    List what can be done here, then take a key of the list: the one that does it with Alt, for
    keyboards and terminals that have no Alt
app.command_palette as palette | ctrl+p
    Search all commands and themes
app.quit | ctrl+q | quit @idle
    Leave; asks first when something would be lost
[prompt] In the prompt
send | enter
    Send; while an answer streams: stop it and redirect with this instruction
steer | alt+enter ctrl+t |  | steer with the draft
    Add to the answer that streams without stopping it, where the model can; else queue (Ctrl+T:
    for terminals that keep Alt+Enter to themselves)
newline | shift+enter ctrl+j
    New line
complete | tab
    Take the suggestion or completion (behind @ a file, folder or symbol, diff, failures or
    selection to attach); else queue the draft until the answer is done
older | up
    On the first line: the previous prompt of the history; with nothing typed: the question or
    the queue, if one waits there
newer | down
    On the last line: the next prompt of the history
unfold | alt+x |  | show the folded paste
    Show the text behind a label like [pasted 200 lines]; Backspace removes it as one
search_past | ctrl+r
    Look for an earlier prompt in the history; {prompt.send} takes it, Esc brings the draft back
edit_outside | ctrl+g
    The draft in your own editor (VISUAL or EDITOR); what you save there comes back
mode | shift+tab
    What the model's commands may do: manual (you are asked), sandbox (confined, without
    questions), plan (only read), and round again
search | ctrl+f
    Search the conversation
page_up | pageup
    Scroll the conversation up
page_down | pagedown
    Scroll the conversation down
unqueue | alt+up |  | take back from the queue
    Take the last queued message back into the prompt
[queue] On a queued message
edit_queued | enter e | edit
    Edit the message in the prompt; {prompt.send} or {prompt.complete} puts it back to its place
remove_queued | d delete | remove
    Remove the message; the prompt's history keeps it
send_queued | s | send now
    Send the message now; while an answer streams: stop it and redirect
step_queued(-1) as previous_queued | up k
    The message before
step_queued(1) as next_queued | down j
    The message behind; below the last: the prompt
prompt | tab shift+tab i | prompt
    Back to the prompt
[conversation] In the conversation
activate | enter
    Unfold, open the file at a location, show the hunk in the editor; place an ambiguous one
peek | space
    Show the lines of a hunk in its card; fold or unfold anything else
prompt | tab shift+tab i
    Back to the prompt
previous_stop | up k
    Previous hunk, location or fold
next_stop | down j
    Next hunk, location or fold
step_message(-1) as previous_message | K
    Previous message: prompt or answer
step_message(1) as next_message | J
    Next message
copy_block | c y | copy
    Copy what is selected: code, the text of a hunk, output, a message
copy_message | C
    Copy the whole message, command or patch; with nothing selected the newest answer
search | ctrl+f | search
    Search the conversation: Enter or ↑ goes to older matches, ↓ to newer ones
scroll_pages(-1) as page_up | pageup
    Scroll up by a page
scroll_pages(1) as page_down | pagedown
    Scroll down by a page
scroll_home | home g
    Scroll to the first line
scroll_end | end G
    Scroll to the last line and stay there
[command] On a command of the model
task('background') as background | b | background @waited
    Let the command go on behind the answer, which no longer waits for it
task('stop') as stop | s | stop it
    Stop the command, and all that it started
[review] On a hunk
accept_hunk | a | accept @pending
    Accept this hunk
reject_hunk | r | reject @pending
    Reject this hunk
reject_why | w | why @pending
    Reject this hunk with a sentence: Enter sends it with your next message, Alt+Enter has the fast
    model redo the hunk now
stop_redoing | x | stop redoing @redoing
    Have this hunk redone no more: it stays as it is
accept_all | A
    Accept all pending hunks
reject_all | R
    Reject all pending hunks
undo_decision | u
    Take the last decision back
redo_decision | U
    Bring it back
next_hunk | n | next @pending
    Next hunk
previous_hunk | p
    Previous hunk
edit_hunk | e
    Edit the hunk's text in the editor, then {accept_edited} accepts it; copy the text of one
    that is not there
next_candidate(-1) as previous_candidate | left
    Previous place of an ambiguous hunk
next_candidate | right
    Next place of an ambiguous hunk
[turn] In the review of a turn
accept_hunk | a | accept @pending
    Accept this hunk, go to the next
reject_hunk | r | reject @pending
    Reject this hunk, go to the next
reject_why | w | why @pending
    Reject this hunk with a sentence: Enter sends it with your next message, Alt+Enter has the fast
    model redo the hunk now
stop_redoing | x | stop redoing @redoing
    Have this hunk redone no more: it stays as it is
decide_file(True) as accept_file | f | file @waiting
    Accept the hunks of this file
decide_file(False) as reject_file | F
    Reject the hunks of this file
decide_all(True) as accept_all | A =accept | all @waiting | accept all hunks
    Accept all hunks that are shown
decide_all(False) as reject_all | R =reject |  | reject all hunks
    Reject all hunks that are shown
take_back('turn') as undo_turn | =undo_turn |  | undo the model's turn
    Undo the model's last turn, byte for byte
take_back('decision') as undo_decision | u | undo
    Take the last decision back
redo_decision | U
    Bring it back
edit_hunk | e
    Edit the hunk in the editor, then {accept_edited} accepts it; copy the text of one that is
    not there
which_hunks | t
    The hunks of the last turn, or all that are pending
[diff] In the review and in a diff
step(1) as next_hunk | n | next
    Next hunk
close | escape q =review_turn | back | back
    Back
step(-1) as previous_hunk | p
    Previous hunk
step_file(1) as next_file | tab
    Next file
step_file(-1) as previous_file | shift+tab
    Previous file
go | enter
    Go to the hunk in the editor; place an ambiguous one
layout | s | side by side
    Side by side, or in one column
context | c | context
    Show the whole files, or only the changes
against | d | diff
    The file against the disk, against HEAD, against the turn's start; then back
scroll_rows(-1) as scroll_up | up k
    Scroll up
scroll_rows(1) as scroll_down | down j
    Scroll down
scroll_pages(-1) as page_up | pageup
    Scroll up by a page
scroll_pages(1) as page_down | pagedown space
    Scroll down by a page
scroll_home | home g
    To the first change
scroll_end | end G
    To the last change
sideways(-1) as scroll_left | left
    Scroll the lines to the left; of an ambiguous hunk: the previous place
sideways(1) as scroll_right | right
    Scroll the lines to the right; of an ambiguous hunk: the next place
app.help | =help | help | all keys and commands
    Show all keys and commands
[rewind] In the preview of a rewind
go as rewind | r | rewind
    Rewind: what is shown comes back and goes, and forward takes it back
part('both') as files_and_talk | b | both
    Files and conversation go back
part('files') as files_alone | f | files
    Only the files go back
part('talk') as talk_alone | t | talk
    Only the conversation goes back
[editor] In the editor
undo | ctrl+z | undo
    Undo your own last edit, never the model's
redo | ctrl+y ctrl+shift+z
    Redo your own edit
find | ctrl+f | find
    Find in this file; in the bar Enter and Shift+Enter step, Alt+C is for upper and lower case,
    Alt+W for whole words, Alt+X for a regular expression, Alt+I for the selection
replace | ctrl+r
    Find and replace in this file; in the bar Tab goes to the other field, Enter replaces one
    and Alt+Enter (or Ctrl+J) all; $1 or \1 is what the first group matched
toggle_comment | ctrl+underscore ctrl+slash
    Make the lines comments, or take the signs off again (terminals send Ctrl+/ as Ctrl+_)
duplicate | ctrl+d
    Duplicate the lines, or what is selected in one
move_lines(-1) as move_lines_up | alt+up |  | move the lines up
    Move the lines up
move_lines(1) as move_lines_down | alt+down |  | move the lines down
    Move the lines down
bracket | ctrl+right_square_bracket
    Go to the matching bracket
outline | ctrl+t
    Go to a function, class or heading of this file
close_tab | ctrl+w
    Close this tab
note | alt+semicolon |  | note on this line
    Note something for the model on this line (the file stays as it is); all notes go with your
    next prompt; in the field Alt+Enter (or Ctrl+J) sends them at once
step_note(1) as next_note | alt+apostrophe |  | next note
    Next note, yours or the model's, in any file
step_note(-1) as previous_note | alt+quotation_mark |  | note before
    Note before
goto_line | alt+g ctrl+g |  | go to a line
    Go to a line, line:column, or +3 and -3
step_tab(1) as next_tab | ctrl+pagedown alt+full_stop |  | next file
    Next file
step_tab(-1) as previous_tab | ctrl+pageup alt+comma |  | previous file
    Previous file
[files] In the file tree
open_row | enter | open
    Open the file; open or close the folder
open_beside | alt+enter | beside | open it beside
    Open the file in the other one of two editors
show_all | alt+i | all files | hidden files too
    Show what is hidden or ignored too, or no longer
leave | tab shift+tab | editor
    Back to the editor
"""
"""A scope and its title, then two rows for each action: its name, keys, words in the footer and in
the list behind the leader key, parted by bars; and its sentence. ``action as NAME``: what
``config.toml`` calls it. ``=NAME`` among the keys: `Key.like`. ``@WHEN`` in the footer: `Key.when`.
``GROUP: words`` in the list: `Key.group`. Some take keys from others, see `tui.ui.keymap`."""

SCOPE_TITLES: dict[Scope, str] = {}
"""Headings of the help screen."""


def _shipped() -> list[Key]:
    """Read `_ROWS`."""
    found: list[Key] = []
    for part in re.split(r"\n(?! )", _ROWS.strip()):
        row, *sentence = part.splitlines()
        if row.startswith("["):
            name, _, title = row[1:].partition("] ")
            scope = cast("Scope", name)
            SCOPE_TITLES[scope] = title
            continue
        named, keys, footer, listed, *_ = [*map(str.strip, row.split("|")), "", "", ""]
        action, _, called = named.partition(" as ")
        words, _, when = footer.partition("@")
        group, _, short = listed.rpartition(": ")
        found.append(
            Key(
                action,
                tuple(key for key in keys.split() if key[0] != "="),
                " ".join(map(str.strip, sentence)),
                words.strip(),
                cast("When", when or "always"),
                scope,
                priority=scope == "global",
                like="".join(key[1:] for key in keys.split() if key[0] == "="),
                group=group,
                short=short,
                called=called,
            )
        )
    return found


SHIPPED: tuple[Key, ...] = tuple(_shipped())
"""The rows as they are written."""
