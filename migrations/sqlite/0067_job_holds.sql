-- Order keys whose jobs wait: somebody else works on the resource, though no job of its own does.

CREATE TABLE job_holds (
    order_key TEXT NOT NULL PRIMARY KEY,
    holder    TEXT NOT NULL
);
CREATE INDEX job_holds_by_holder ON job_holds (holder);
