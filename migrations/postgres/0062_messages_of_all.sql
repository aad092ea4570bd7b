-- Administrators of the share service read every project's messages.

CREATE INDEX messages_by_service_and_age ON messages (service, created_at, id);
