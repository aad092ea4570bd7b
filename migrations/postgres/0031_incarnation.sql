-- Which driver and configuration serve a back end, as of the last swap: a report of an earlier one does not make what its
-- volumes carry less safe. Null: none has been swapped in yet.
ALTER TABLE backends ADD COLUMN incarnation TEXT;
