-- The built-in identity: what Keystone would keep.
CREATE TABLE domains (
    id TEXT NOT NULL PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    description TEXT NOT NULL,
    enabled BOOLEAN NOT NULL,
    created_at BIGINT NOT NULL
);

CREATE TABLE projects (
    id TEXT NOT NULL PRIMARY KEY,
    domain_id TEXT NOT NULL REFERENCES domains (id),
    parent_id TEXT REFERENCES projects (id),
    name TEXT NOT NULL,
    description TEXT NOT NULL,
    enabled BOOLEAN NOT NULL,
    created_at BIGINT NOT NULL,
    UNIQUE (domain_id, name)
);
CREATE INDEX projects_by_parent ON projects (parent_id);

CREATE TABLE users (
    id TEXT NOT NULL PRIMARY KEY,
    domain_id TEXT NOT NULL REFERENCES domains (id),
    name TEXT NOT NULL,
    description TEXT NOT NULL,
    email TEXT,
    enabled BOOLEAN NOT NULL,
    default_project_id TEXT,
    -- argon2 in PHC form; null for a user who cannot log in with a password
    password_hash TEXT,
    created_at BIGINT NOT NULL,
    UNIQUE (domain_id, name)
);

CREATE TABLE roles (
    id TEXT NOT NULL PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    description TEXT NOT NULL,
    created_at BIGINT NOT NULL
);

-- who has prior_id has implied_id too
CREATE TABLE implied_roles (
    prior_id TEXT NOT NULL REFERENCES roles (id) ON DELETE CASCADE,
    implied_id TEXT NOT NULL REFERENCES roles (id) ON DELETE CASCADE,
    PRIMARY KEY (prior_id, implied_id)
);

-- scope: project, domain or system; target_id is the project's or domain's id, 'all' for the system
CREATE TABLE role_assignments (
    user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    scope TEXT NOT NULL,
    target_id TEXT NOT NULL,
    role_id TEXT NOT NULL REFERENCES roles (id) ON DELETE CASCADE,
    PRIMARY KEY (user_id, scope, target_id, role_id)
);
CREATE INDEX role_assignments_by_target ON role_assignments (scope, target_id);
CREATE INDEX role_assignments_by_role ON role_assignments (role_id);

-- the token itself is never stored: hash is SHA-256 of it, in hex. A revoked token's row is gone.
CREATE TABLE tokens (
    hash TEXT NOT NULL PRIMARY KEY,
    user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    -- project, domain, system or none
    scope TEXT NOT NULL,
    target_id TEXT NOT NULL,
    -- comma separated: password, token
    methods TEXT NOT NULL,
    -- own audit id, then that of the token it came from, comma separated
    audit_ids TEXT NOT NULL,
    issued_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL
);
CREATE INDEX tokens_by_user ON tokens (user_id);
CREATE INDEX tokens_by_expiry ON tokens (expires_at);
CREATE INDEX tokens_by_target ON tokens (scope, target_id);
