-- The incarnation of the back end that a run was prepared with: no other is asked for its shares. A run that is under way is
-- prepared again.
ALTER TABLE ensure_runs ADD COLUMN incarnation TEXT;
UPDATE ensure_runs SET prepared = FALSE WHERE ended_at IS NULL;
