-- Where a back end's volumes are served from when that is not its own array. Null status: as its driver reports it, enabled or not.
ALTER TABLE backends ADD COLUMN replication_status TEXT;
ALTER TABLE backends ADD COLUMN active_backend_id TEXT;
-- Why the last fail-over did not go as it should.
ALTER TABLE backends ADD COLUMN replication_reason TEXT;

-- Null: the volume's type asks for no replication.
ALTER TABLE volumes ADD COLUMN replication_status TEXT;
