-- Why a share server could not be built, for the shares that wait for it: the message's detail, and the driver's own text for users.
ALTER TABLE share_servers ADD COLUMN failed_detail TEXT;
ALTER TABLE share_servers ADD COLUMN failed_text TEXT;
