-- Whether the share servers of a network could be given one more subnet: what each of their drivers said when it was asked.

CREATE TABLE subnet_checks (
    id                TEXT   NOT NULL PRIMARY KEY,
    share_network_id  TEXT   NOT NULL REFERENCES share_networks (id) ON DELETE CASCADE,
    -- the subnet that is asked for; empty: a default one, or one without ids
    availability_zone TEXT   NOT NULL,
    neutron_net_id    TEXT   NOT NULL,
    neutron_subnet_id TEXT   NOT NULL,
    -- the id that drivers are told, and that the subnet gets when it is made
    subnet_id         TEXT   NOT NULL,
    created_at        BIGINT NOT NULL
);
CREATE UNIQUE INDEX subnet_checks_question ON subnet_checks (share_network_id, availability_zone, neutron_net_id, neutron_subnet_id);

-- One a server of the network. An answer counts for this incarnation of its back end alone.
CREATE TABLE subnet_check_answers (
    check_id        TEXT NOT NULL REFERENCES subnet_checks (id) ON DELETE CASCADE,
    share_server_id TEXT NOT NULL,
    -- host@backend
    backend         TEXT NOT NULL,
    incarnation     TEXT NOT NULL,
    job_id          TEXT NOT NULL,
    -- possible, refused, failed (the driver could not say); null: it has not answered yet
    verdict         TEXT,
    -- why not, in the driver's words, for the operator
    reason          TEXT,
    -- how many addresses the server wants in the subnet
    addresses       BIGINT,
    PRIMARY KEY (check_id, share_server_id)
);
