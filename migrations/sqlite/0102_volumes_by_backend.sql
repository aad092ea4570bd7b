-- The volumes of a back end are walked over in the order of their ids, some at a time: those with a connection, when the back
-- end has come into service and is asked to export them again.
DROP INDEX volumes_by_backend;
CREATE INDEX volumes_by_backend ON volumes (backend, id);
