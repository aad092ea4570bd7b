-- Subnets that a server was promised and that its driver has not given it: it is being updated, or that failed and can be repeated.
ALTER TABLE share_server_subnets ADD COLUMN applied BOOLEAN NOT NULL DEFAULT TRUE;
