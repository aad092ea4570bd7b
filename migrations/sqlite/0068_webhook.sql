-- Events that the webhook has not taken yet. A row comes when the outbox lets go of the event.
CREATE TABLE webhook_queue (
    seq           INTEGER NOT NULL PRIMARY KEY,
    id            TEXT   NOT NULL,
    event_type    TEXT   NOT NULL,
    resource_kind TEXT   NOT NULL,
    resource_id   TEXT   NOT NULL,
    project_id    TEXT   NOT NULL,
    user_id       TEXT   NOT NULL,
    request_id    TEXT   NOT NULL,
    payload       TEXT   NOT NULL,
    created_at    BIGINT NOT NULL,
    attempts      BIGINT NOT NULL,
    next_at       BIGINT NOT NULL
);
CREATE INDEX webhook_queue_resource ON webhook_queue (resource_id, seq);
CREATE INDEX webhook_queue_age ON webhook_queue (created_at);

-- How the webhook does; one row.
CREATE TABLE webhook_state (
    one           BIGINT NOT NULL PRIMARY KEY CHECK (one = 1),
    -- rounds in a row that delivered nothing
    failures      BIGINT NOT NULL,
    -- nothing is sent before
    paused_until  BIGINT NOT NULL,
    -- why the last round that failed did
    reason        TEXT   NOT NULL,
    delivered     BIGINT NOT NULL,
    delivered_at  BIGINT,
    -- dropped: too old, or too many waited
    lost          BIGINT NOT NULL
);
INSERT INTO webhook_state (one, failures, paused_until, reason, delivered, delivered_at, lost) VALUES (1, 0, 0, '', 0, NULL, 0);
