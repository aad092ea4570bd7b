-- Whose create may still copy from its source. Only those rows are looked at before a source goes; what an older binary
-- writes counts, and is looked at in vain at worst.
ALTER TABLE volumes ADD COLUMN copying BOOLEAN NOT NULL DEFAULT TRUE;
UPDATE volumes SET copying = FALSE WHERE NOT EXISTS
    (SELECT 1 FROM jobs j WHERE j.resource_id = volumes.id AND j.kind = 'volume.create' AND j.state <> 'done');
DROP INDEX volumes_by_snapshot;
DROP INDEX volumes_by_source;
CREATE INDEX volumes_copying_snapshot ON volumes (snapshot_id) WHERE copying AND snapshot_id IS NOT NULL;
CREATE INDEX volumes_copying_volume ON volumes (source_volid) WHERE copying AND source_volid IS NOT NULL;
-- a type goes only when no volume shall get it
CREATE INDEX volumes_by_retype ON volumes (retype_to) WHERE retype_to IS NOT NULL;
-- the room of one resource, and of one pool
CREATE INDEX capacity_claims_resource ON capacity_claims (resource_id);
CREATE INDEX capacity_claims_pool ON capacity_claims (pool);
-- a type that is renamed, or goes, takes every project's figures along
CREATE INDEX quota_usage_resource ON quota_usage (resource);
CREATE INDEX quota_limits_resource ON quota_limits (resource);
