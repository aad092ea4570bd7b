-- QoS specs, and which of them a volume type has.

CREATE TABLE qos_specs (
    id         TEXT   NOT NULL PRIMARY KEY,
    name       TEXT   NOT NULL UNIQUE,
    consumer   TEXT   NOT NULL, -- front-end | back-end | both
    created_at BIGINT NOT NULL,
    updated_at BIGINT
);

CREATE TABLE qos_spec_pairs (
    qos_id TEXT NOT NULL REFERENCES qos_specs (id) ON DELETE CASCADE,
    key    TEXT NOT NULL,
    value  TEXT NOT NULL,
    PRIMARY KEY (qos_id, key)
);

ALTER TABLE volume_types ADD COLUMN qos_specs_id TEXT REFERENCES qos_specs (id);
CREATE INDEX volume_types_by_qos ON volume_types (qos_specs_id);
