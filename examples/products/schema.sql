-- What the pretend products remember: one file, so that they survive a restart.
CREATE TABLE IF NOT EXISTS records (
    collection TEXT NOT NULL,
    record_id  TEXT NOT NULL,
    revision   INTEGER NOT NULL,
    fields     TEXT NOT NULL,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    PRIMARY KEY (collection, record_id)
) WITHOUT ROWID;

-- A key outlives its window as a tombstone: a product that forgot it would apply the effect again.
CREATE TABLE IF NOT EXISTS keys (
    operation  TEXT NOT NULL,
    key        TEXT NOT NULL,
    digest     TEXT NOT NULL,
    status     INTEGER NOT NULL,
    body       TEXT NOT NULL,
    expires_at REAL NOT NULL,
    PRIMARY KEY (operation, key)
) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS effects (
    position   INTEGER PRIMARY KEY,
    operation  TEXT NOT NULL,
    key        TEXT NOT NULL,
    digest     TEXT NOT NULL,
    reference  TEXT NOT NULL,
    applied_at TEXT NOT NULL
);

CREATE TABLE IF NOT EXISTS reviews (
    review_id  TEXT PRIMARY KEY,
    state      TEXT NOT NULL CHECK (state IN ('pending', 'completed', 'withdrawn')),
    revision   INTEGER NOT NULL,
    request    TEXT NOT NULL,
    created_at TEXT NOT NULL,
    closed_at  TEXT,
    decision   TEXT CHECK (decision IN ('approved', 'rejected')),
    decided_by TEXT,
    comment    TEXT
) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS webhook_targets (
    review_id TEXT PRIMARY KEY,
    url       TEXT NOT NULL,
    secret    TEXT NOT NULL
) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS deliveries (
    message_id  TEXT PRIMARY KEY,
    review_id   TEXT NOT NULL,
    payload     TEXT NOT NULL,
    state       TEXT NOT NULL CHECK (state IN ('pending', 'delivered', 'abandoned')),
    attempts    INTEGER NOT NULL,
    due_at      REAL NOT NULL,
    last_answer TEXT
);

CREATE TABLE IF NOT EXISTS appointments (
    appointment_id TEXT PRIMARY KEY,
    offering       TEXT NOT NULL,
    starts_at      TEXT NOT NULL,
    duplicate_key  TEXT UNIQUE
) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS scripted_answers (
    question TEXT PRIMARY KEY,
    answer   TEXT NOT NULL
) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS directory (
    path   TEXT PRIMARY KEY,
    status INTEGER NOT NULL,
    body   TEXT NOT NULL
) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS tokens (
    token_digest TEXT PRIMARY KEY,
    client_id    TEXT NOT NULL,
    scope        TEXT NOT NULL,
    expires_at   REAL NOT NULL
) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS assertions (
    client_id  TEXT NOT NULL,
    jti        TEXT NOT NULL,
    expires_at REAL NOT NULL,
    PRIMARY KEY (client_id, jti)
) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS grants (
    grant_id   TEXT PRIMARY KEY,
    client_id  TEXT NOT NULL,
    resource   TEXT NOT NULL,
    scopes     TEXT NOT NULL,
    subject    TEXT NOT NULL,
    expires_at INTEGER NOT NULL,
    revoked    INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS marks (
    name  TEXT PRIMARY KEY,
    value INTEGER NOT NULL
) WITHOUT ROWID;
