-- A share server that moves to another back end: how far it is, and, on the one it moves to, where it came from. The source goes
-- first, so nothing refers to it.
ALTER TABLE share_servers ADD COLUMN task_state TEXT;
ALTER TABLE share_servers ADD COLUMN source_share_server_id TEXT;
-- how much its driver has copied; null: it has not said
ALTER TABLE share_servers ADD COLUMN migration_percent BIGINT;
-- whether its driver can end the migration before it is complete; null: there is none
ALTER TABLE share_servers ADD COLUMN migration_can_cancel BOOLEAN;
CREATE INDEX share_servers_by_source ON share_servers (source_share_server_id) WHERE source_share_server_id IS NOT NULL;
