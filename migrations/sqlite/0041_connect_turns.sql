-- Whose turn it is to connect or disconnect on one (back end, connector host): a claim of a job, for as long as it runs.
CREATE TABLE connect_turns (
    backend    TEXT   NOT NULL,
    host       TEXT   NOT NULL,
    job_id     TEXT   NOT NULL,
    generation BIGINT NOT NULL,
    taken_at   BIGINT NOT NULL,
    PRIMARY KEY (backend, host)
);
CREATE INDEX connect_turns_age ON connect_turns (taken_at);
