-- a type that goes takes the figures of every project along
CREATE INDEX quota_usage_by_type ON quota_usage (type_id);
CREATE INDEX quota_limits_by_type ON quota_limits (type_id);
