-- A volume moves to another pool: its bytes are copied to a new object, which has an id of its own there.

-- what drivers call the volume; null: its id
ALTER TABLE volumes ADD COLUMN name_id TEXT;
-- the job that moves it
ALTER TABLE volumes ADD COLUMN migration_job TEXT;
