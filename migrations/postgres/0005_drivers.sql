-- Accepted driver components by the hash of their bytes, and which one serves under each name.
CREATE TABLE driver_blobs (
    hash        TEXT   NOT NULL PRIMARY KEY,
    bytes       BYTEA  NOT NULL,
    accepted_at BIGINT NOT NULL
);

CREATE TABLE driver_active (
    name         TEXT    NOT NULL PRIMARY KEY,
    hash         TEXT    NOT NULL REFERENCES driver_blobs (hash),
    file         TEXT    NOT NULL,
    forced       BOOLEAN NOT NULL,
    activated_at BIGINT  NOT NULL
);

-- What drivers keep themselves. On SQLite these three are a file of their own.
CREATE TABLE driver_kv (
    backend    TEXT   NOT NULL,
    key        TEXT   COLLATE "C" NOT NULL,
    value      BYTEA  NOT NULL,
    version    BIGINT NOT NULL,
    PRIMARY KEY (backend, key)
);

-- One row a back end: the bytes it uses and the counter its versions come from.
CREATE TABLE driver_kv_usage (
    backend TEXT   NOT NULL PRIMARY KEY,
    bytes   BIGINT NOT NULL,
    seq     BIGINT NOT NULL
);

CREATE TABLE driver_locks (
    backend    TEXT   NOT NULL,
    name       TEXT   NOT NULL,
    owner      TEXT   NOT NULL,
    expires_at BIGINT NOT NULL,
    PRIMARY KEY (backend, name)
);
