-- Accepted driver components by the hash of their bytes, and which one serves under each name.
-- What drivers themselves keep (kv, locks) is a file of its own beside this one: see store/sql/driver_kv.rs.
CREATE TABLE driver_blobs (
    hash        TEXT   NOT NULL PRIMARY KEY,
    bytes       BLOB   NOT NULL,
    accepted_at BIGINT NOT NULL
);

CREATE TABLE driver_active (
    name         TEXT    NOT NULL PRIMARY KEY,
    hash         TEXT    NOT NULL REFERENCES driver_blobs (hash),
    file         TEXT    NOT NULL,
    forced       BOOLEAN NOT NULL,
    activated_at BIGINT  NOT NULL
);
