-- The older attach actions name a volume, not an attachment. What they make are attachments all the same.

-- what they made of it last: reserve, connect or attach; null: it was made as an attachment
ALTER TABLE attachments ADD COLUMN older TEXT;
-- where `os-attach` said it is
ALTER TABLE attachments ADD COLUMN attached_host TEXT;
-- `os-begin_detaching` was said, and neither taken back nor followed by a detach
ALTER TABLE attachments ADD COLUMN leaving BOOLEAN NOT NULL DEFAULT FALSE;
