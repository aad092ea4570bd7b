-- A rule that was denied goes, whatever becomes of the attempt: one that the driver could not take away is in error like one that
-- it could not apply, and must not be applied again.
ALTER TABLE share_access_rules ADD COLUMN withdrawn BOOLEAN NOT NULL DEFAULT FALSE;
ALTER TABLE snapshot_access_rules ADD COLUMN withdrawn BOOLEAN NOT NULL DEFAULT FALSE;
