-- The serving processes: where log levels are set and told. Gone when the process has ended: with it, or when it was not heard of for long.
CREATE TABLE processes (
    id TEXT NOT NULL PRIMARY KEY,
    -- machine and process id, for people
    label TEXT NOT NULL,
    -- the services whose work it does, space separated
    binaries TEXT NOT NULL,
    -- the directives its log follows
    log_directives TEXT NOT NULL,
    started_at BIGINT NOT NULL,
    seen_until BIGINT NOT NULL
);

-- Levels set while a process runs, over those of its configuration. It looks here.
CREATE TABLE process_log_levels (
    process TEXT NOT NULL,
    prefix TEXT NOT NULL,
    level TEXT NOT NULL,
    PRIMARY KEY (process, prefix)
);
