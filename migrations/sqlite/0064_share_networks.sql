-- Share networks and subnets that were deleted while they had share servers: nobody sees them, and they go with the last server.
ALTER TABLE share_networks ADD COLUMN deleting BOOLEAN NOT NULL DEFAULT FALSE;
ALTER TABLE share_network_subnets ADD COLUMN deleting BOOLEAN NOT NULL DEFAULT FALSE;

-- Addresses that the built-in network plug-in may give: one row a configured subnet, made when it is first used. A transaction
-- that gives or takes back addresses holds it.
CREATE TABLE network_pools (
    network_key   TEXT   NOT NULL PRIMARY KEY,
    -- as the configuration said when the free intervals were made: when it says something else, they are made again
    ranges        TEXT   NOT NULL,
    -- where the search for the next free address begins, so that an address rests after it was given back
    next_position BIGINT NOT NULL
);

-- Its free addresses, as disjoint intervals that do not touch. Positions count from the subnet's first address.
CREATE TABLE network_free (
    network_key    TEXT   NOT NULL REFERENCES network_pools (network_key) ON DELETE CASCADE,
    first_position BIGINT NOT NULL,
    last_position  BIGINT NOT NULL,
    PRIMARY KEY (network_key, last_position)
);
CREATE UNIQUE INDEX network_free_by_first ON network_free (network_key, first_position);
