"""The tables of the store, and how an older file becomes one of this version.

A text is kept as text, or, where that is smaller, as the bytes of its UTF-8 that zlib made.
``full_text`` has a row for each block of which something can be searched, under the block's rowid;
it keeps no text of its own, so what goes out of it must be said again as it went in. It knows which
words a block has, and not where: beginnings of words are found in a fraction of the time and room.
"""

from __future__ import annotations

import zlib

FILE = "store.sqlite3"
LOGS = "sessions"
"""The folder of the sessions' logs: ``ID.log``, locked while a duetto is in that session."""
_PACKED = 200
"""Texts that are shorter stay as they are."""

MIGRATIONS = (
    """
    CREATE TABLE sessions (
        n INTEGER PRIMARY KEY,
        id TEXT NOT NULL UNIQUE,
        seq INTEGER NOT NULL DEFAULT 0,     -- the last record that is in here
        folder TEXT NOT NULL DEFAULT '',
        kind TEXT NOT NULL DEFAULT 'app',
        version TEXT NOT NULL DEFAULT '',
        name TEXT NOT NULL DEFAULT '',
        first_words TEXT NOT NULL DEFAULT '',
        parent TEXT NOT NULL DEFAULT '',
        parent_turn INTEGER NOT NULL DEFAULT 0,
        began_ms INTEGER NOT NULL DEFAULT 0,
        last_ms INTEGER NOT NULL DEFAULT 0,
        ended INTEGER NOT NULL DEFAULT 0,
        turns INTEGER NOT NULL DEFAULT 0
    );
    CREATE INDEX sessions_by_last ON sessions (last_ms);

    CREATE TABLE turns (
        session INTEGER NOT NULL REFERENCES sessions ON DELETE CASCADE,
        number INTEGER NOT NULL,
        seq INTEGER NOT NULL,               -- what is of a lower one was said before it
        began_ms INTEGER NOT NULL,
        ended_ms INTEGER,
        role TEXT NOT NULL,
        model TEXT NOT NULL,
        endpoint TEXT NOT NULL,
        outcome TEXT,                       -- null: it is not over
        tokens_in INTEGER,
        tokens_out INTEGER,
        usd REAL,
        ttft_s REAL,
        tokens_s REAL,
        began TEXT NOT NULL,                -- TurnBegan as JSON
        ended TEXT,                         -- TurnEnded as JSON
        PRIMARY KEY (session, number)
    ) WITHOUT ROWID;

    CREATE TABLE requests (
        session INTEGER NOT NULL REFERENCES sessions ON DELETE CASCADE,
        number INTEGER NOT NULL,
        seq INTEGER NOT NULL,               -- its items: entries of seq < this and gone > this
        turn INTEGER NOT NULL,
        ms INTEGER NOT NULL,
        chained INTEGER NOT NULL,
        head TEXT NOT NULL,                 -- blobs.sha
        PRIMARY KEY (session, number)
    ) WITHOUT ROWID;

    CREATE TABLE entries (
        session INTEGER NOT NULL REFERENCES sessions ON DELETE CASCADE,
        id INTEGER NOT NULL,
        seq INTEGER NOT NULL,
        place REAL NOT NULL,                -- they stand in this order
        gone INTEGER,                       -- the record that withdrew it; null: it stands
        turn INTEGER NOT NULL,
        kind TEXT NOT NULL,
        origin TEXT NOT NULL,
        item TEXT,                          -- JSON, or null and
        blob TEXT,                          -- blobs.sha of it: the same is often said again
        PRIMARY KEY (session, id, seq)
    ) WITHOUT ROWID;

    CREATE TABLE blocks (
        n INTEGER PRIMARY KEY,              -- as in full_text
        session INTEGER NOT NULL REFERENCES sessions ON DELETE CASCADE,
        at INTEGER NOT NULL,                -- its index in the conversation
        turn INTEGER NOT NULL,
        kind TEXT NOT NULL,
        title TEXT NOT NULL,
        speaker TEXT NOT NULL,
        call_id TEXT NOT NULL,
        state TEXT NOT NULL,
        report TEXT,                        -- RunReport as JSON
        ms INTEGER NOT NULL,                -- when it began
        text,                               -- all of it, or while it is open what is before
        UNIQUE (session, at)
    );
    CREATE TABLE pieces (                   -- these, in the order of start
        block INTEGER NOT NULL REFERENCES blocks ON DELETE CASCADE,
        start INTEGER NOT NULL,             -- in characters
        text NOT NULL,
        PRIMARY KEY (block, start)
    ) WITHOUT ROWID;

    CREATE TABLE hunks (
        session INTEGER NOT NULL REFERENCES sessions ON DELETE CASCADE,
        id INTEGER NOT NULL,
        seq INTEGER NOT NULL,               -- the last record that changed it
        turn INTEGER NOT NULL,
        call_id TEXT NOT NULL,
        path TEXT NOT NULL,
        stage TEXT NOT NULL,
        decision TEXT NOT NULL,
        reason TEXT NOT NULL,
        words TEXT NOT NULL,
        author TEXT NOT NULL,               -- of the decision
        ms INTEGER NOT NULL,                -- when it came
        decided_ms INTEGER,
        waits INTEGER NOT NULL,             -- 1: for a decision, or for a place
        made NOT NULL,                      -- HunkMade as JSON, as it was when it came
        PRIMARY KEY (session, id)
    ) WITHOUT ROWID;
    CREATE INDEX hunks_that_wait ON hunks (session) WHERE waits;

    CREATE TABLE files (
        session INTEGER NOT NULL REFERENCES sessions ON DELETE CASCADE,
        seq INTEGER NOT NULL,
        turn INTEGER NOT NULL,
        path TEXT NOT NULL,
        moment TEXT NOT NULL,
        ms INTEGER NOT NULL,
        blob TEXT NOT NULL,                 -- blobs.sha; empty: no such file
        PRIMARY KEY (session, seq)
    ) WITHOUT ROWID;
    CREATE INDEX files_by_blob ON files (blob);
    CREATE INDEX entries_by_blob ON entries (blob) WHERE blob IS NOT NULL;
    CREATE INDEX requests_by_head ON requests (head);

    CREATE TABLE blobs (
        sha TEXT PRIMARY KEY,               -- SHA-256 in hexadecimal digits
        ms INTEGER NOT NULL,                -- when it was said last
        size INTEGER NOT NULL,              -- of the data as it was
        data BLOB NOT NULL                  -- as zlib made it
    );

    CREATE TABLE commands (
        session INTEGER NOT NULL REFERENCES sessions ON DELETE CASCADE,
        number INTEGER NOT NULL,
        turn INTEGER NOT NULL,
        call_id TEXT NOT NULL,
        line TEXT NOT NULL,
        folder TEXT NOT NULL,
        mode TEXT NOT NULL,
        confined TEXT NOT NULL,
        consent TEXT NOT NULL,
        ms INTEGER NOT NULL,
        seconds REAL,                       -- null: it has not ended
        status INTEGER,
        how TEXT,
        PRIMARY KEY (session, number)
    ) WITHOUT ROWID;

    CREATE TABLE verdicts (
        session INTEGER NOT NULL REFERENCES sessions ON DELETE CASCADE,
        seq INTEGER NOT NULL,
        turn INTEGER NOT NULL,
        ms INTEGER NOT NULL,
        command TEXT NOT NULL,
        verdict TEXT NOT NULL,
        seconds REAL NOT NULL,
        report TEXT,                        -- RunReport as JSON
        PRIMARY KEY (session, seq)
    ) WITHOUT ROWID;

    CREATE TABLE events (
        session INTEGER NOT NULL REFERENCES sessions ON DELETE CASCADE,
        seq INTEGER NOT NULL,
        turn INTEGER NOT NULL,
        ms INTEGER NOT NULL,
        s REAL NOT NULL,                    -- of the process's own clock, which only grows
        what TEXT NOT NULL,
        detail TEXT NOT NULL,
        PRIMARY KEY (session, seq)
    ) WITHOUT ROWID;

    CREATE VIRTUAL TABLE full_text USING fts5 (
        text, content='', tokenize='unicode61', detail=none, prefix='1 2 3'
    );
    """,
    """
    ALTER TABLE entries ADD COLUMN image TEXT NOT NULL DEFAULT '';  -- blobs.sha of what it shows
    CREATE INDEX entries_by_image ON entries (image) WHERE image != '';
    """,
    """
    ALTER TABLE turns ADD COLUMN served TEXT NOT NULL DEFAULT '';   -- the model, as its server says
    ALTER TABLE turns ADD COLUMN tier TEXT NOT NULL DEFAULT '';     -- that was served
    ALTER TABLE turns ADD COLUMN seconds REAL;                      -- until the turn's end, and
    ALTER TABLE turns ADD COLUMN first_s REAL;                      -- until the first token, all
    ALTER TABLE turns ADD COLUMN hunk_s REAL;                       -- from the prompt on
    ALTER TABLE turns ADD COLUMN verify_s REAL NOT NULL DEFAULT 0;  -- of all its verifications
    ALTER TABLE turns ADD COLUMN verdict_ms INTEGER;                -- the first verdict
    ALTER TABLE turns ADD COLUMN green_ms INTEGER;                  -- the first that passed
    ALTER TABLE turns ADD COLUMN decided_ms INTEGER;                -- the user's first decision
    ALTER TABLE turns ADD COLUMN accepted_ms INTEGER;               -- the last hunk accepted
    ALTER TABLE turns ADD COLUMN hunks INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE turns ADD COLUMN accepted INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE turns ADD COLUMN rejected INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE turns ADD COLUMN interrupts INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE turns ADD COLUMN redirects INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE turns ADD COLUMN steers INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE turns ADD COLUMN timed INTEGER NOT NULL DEFAULT 0;  -- 1: from this version on
    CREATE INDEX hunks_by_turn ON hunks (session, turn, decision, author, decided_ms);
    CREATE TEMP TABLE told (
        session INTEGER, turn INTEGER, interrupts INTEGER, redirects INTEGER, steers INTEGER,
        PRIMARY KEY (session, turn)
    ) WITHOUT ROWID;
    INSERT INTO told SELECT session, turn, sum(what = 'interrupt'), sum(what = 'redirect'),
        sum(what = 'steer') FROM events WHERE what IN ('interrupt', 'redirect', 'steer')
        GROUP BY session, turn;
    UPDATE turns SET (interrupts, redirects, steers) = (SELECT interrupts, redirects, steers
        FROM told AS t WHERE t.session = turns.session AND t.turn = turns.number)
        WHERE EXISTS (SELECT 1 FROM told AS t
        WHERE t.session = turns.session AND t.turn = turns.number);
    DROP TABLE told;
    UPDATE turns SET served = ifnull(json_extract(ended, '$[3]'), ''),
        tier = ifnull(json_extract(ended, '$[4]'), ''), seconds = json_extract(ended, '$[5][7]')
        WHERE json_valid(ended);
    UPDATE turns SET (hunks, accepted, rejected, decided_ms, accepted_ms) = (
        SELECT count(*), ifnull(sum(decision = 'accepted'), 0),
        ifnull(sum(decision = 'rejected'), 0), min(CASE author WHEN 'user' THEN decided_ms END),
        max(CASE decision WHEN 'accepted' THEN decided_ms END)
        FROM hunks AS h WHERE h.session = turns.session AND h.turn = turns.number);
    CREATE INDEX turns_by_time ON turns (began_ms, session, number, ended_ms, outcome, role, model,
        served, endpoint, tier, tokens_out, usd, ttft_s, tokens_s, seconds, first_s, hunk_s,
        verify_s, verdict_ms, green_ms, decided_ms, accepted_ms, hunks, accepted, rejected,
        interrupts, redirects, steers, timed);
    CREATE INDEX events_felt ON events (ms) WHERE what = 'felt';
    """,
    "CREATE INDEX events_proposed ON events (session, turn, detail) WHERE what = 'proposed';",
    """
    CREATE TABLE weeks (                    -- a week that is over, as statistics have it;
                                            -- who counts otherwise empties this by a migration
        began_ms INTEGER PRIMARY KEY,
        until_ms INTEGER NOT NULL,          -- exclusive
        figures BLOB NOT NULL               -- core.cycles.WeekFigures as MessagePack
    );
    CREATE TRIGGER turn_made AFTER INSERT ON turns BEGIN
        DELETE FROM weeks WHERE began_ms BETWEEN NEW.began_ms - 691200000 AND NEW.began_ms
            AND until_ms > NEW.began_ms;
    END;
    CREATE TRIGGER turn_changed AFTER UPDATE ON turns BEGIN
        DELETE FROM weeks WHERE began_ms BETWEEN NEW.began_ms - 691200000 AND NEW.began_ms
            AND until_ms > NEW.began_ms;
    END;
    CREATE TRIGGER turn_gone AFTER DELETE ON turns BEGIN
        DELETE FROM weeks WHERE began_ms BETWEEN OLD.began_ms - 691200000 AND OLD.began_ms
            AND until_ms > OLD.began_ms;
    END;
    """,
    "DELETE FROM weeks;",  # odd values were in their figures
    "DELETE FROM weeks;",  # turns of a rehearsal by `exec` were, too
)
"""What is done to a file of the version that is its index; ``user_version`` counts them."""


def packed(text: str) -> str | bytes:
    """A text as it is kept."""
    if len(text) < _PACKED:
        return text if text.isascii() else text.encode("utf-8", "replace").decode()
    data = text.encode("utf-8", "replace")
    small = zlib.compress(data)
    return small if len(small) < len(data) else data.decode()


def unpacked(kept: str | bytes | None) -> str:
    """A kept text as it was."""
    if isinstance(kept, bytes):
        return zlib.decompress(kept).decode("utf-8")
    return kept or ""
