-- What a share server that moved away left on its back end, as its driver was told of it (JSON); null: nothing, or it is removed.
ALTER TABLE share_servers ADD COLUMN left_behind TEXT;
