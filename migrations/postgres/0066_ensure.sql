-- Ensuring: the shares of a back end are compared with what its driver finds there.

CREATE TABLE ensure_runs (
    id             TEXT    NOT NULL PRIMARY KEY,
    -- host@backend
    backend        TEXT    NOT NULL REFERENCES backends (host) ON DELETE CASCADE,
    -- request, repeat, change
    cause          TEXT    NOT NULL,
    request_id     TEXT    NOT NULL,
    project_id     TEXT    NOT NULL,
    user_id        TEXT    NOT NULL,
    -- asked for again while it ran: one more run follows
    repeat_once    BOOLEAN NOT NULL,
    -- shares show `ensuring` meanwhile
    changes_status BOOLEAN NOT NULL,
    -- the configuration was read again and the fingerprint taken
    prepared       BOOLEAN NOT NULL,
    fingerprint    TEXT,
    -- the share instance up to which every share had its turn
    walked_to      TEXT    NOT NULL,
    walked         BOOLEAN NOT NULL,
    -- how often those that were busy had another turn
    rounds         BIGINT  NOT NULL,
    batch          BIGINT  NOT NULL,
    total          BIGINT  NOT NULL,
    unchanged      BIGINT  NOT NULL,
    updated        BIGINT  NOT NULL,
    broken         BIGINT  NOT NULL,
    failed         BIGINT  NOT NULL,
    left_out       BIGINT  NOT NULL,
    skipped        BIGINT  NOT NULL,
    -- done, given_up; null: it runs
    outcome        TEXT,
    -- what an operator should know of it
    reason         TEXT,
    started_at     BIGINT  NOT NULL,
    ended_at       BIGINT
);
CREATE UNIQUE INDEX ensure_runs_one ON ensure_runs (backend) WHERE ended_at IS NULL;
CREATE INDEX ensure_runs_by_backend ON ensure_runs (backend, started_at);

-- Shares that a run holds, has put off, or has something to say of. Good ones leave no row.
CREATE TABLE ensure_shares (
    run_id   TEXT   NOT NULL REFERENCES ensure_runs (id) ON DELETE CASCADE,
    share_id TEXT   NOT NULL,
    -- held, busy; then failed, left_out, broken, skipped
    state    TEXT   NOT NULL,
    -- those of one number are asked for in one call
    part     BIGINT NOT NULL,
    reason   TEXT,
    PRIMARY KEY (run_id, share_id)
);
CREATE INDEX ensure_shares_by_state ON ensure_shares (run_id, state, part, share_id);

-- The driver's fingerprint when the shares were ensured last.
CREATE TABLE ensure_fingerprints (
    backend     TEXT   NOT NULL PRIMARY KEY REFERENCES backends (host) ON DELETE CASCADE,
    fingerprint TEXT   NOT NULL,
    stored_at   BIGINT NOT NULL
);
