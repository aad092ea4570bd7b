-- Connectors of failed connects to which a back end may still export the volume (a JSON array), until that is taken back.
ALTER TABLE attachments ADD COLUMN leftovers TEXT;
