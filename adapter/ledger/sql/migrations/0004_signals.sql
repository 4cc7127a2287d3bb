-- What comes from outside while a run waits: signals for its waits, and signed messages of products.

-- Signals are written before anything is sent to Temporal and delivered under their own id until they
-- have an outcome: `completed` (by `visit`), `kept`, `late` or `too-many`. `due_at` is when the next
-- delivery is due. The payload is gone once the run's retention is over.
create table coordinator.signals (
    id uuid primary key,
    run_id uuid not null references coordinator.runs,
    execution integer not null,
    owner text not null,
    scope text not null,
    name text not null,
    actor text not null,
    request_digest text not null,
    sealed_payload bytea not null,
    state text not null default 'recorded' check (state in ('recorded', 'done', 'refused')),
    outcome text not null default '',
    visit text not null default '',
    deliveries integer not null default 0,
    recorded_at timestamptz not null,
    due_at timestamptz not null,
    concluded_at timestamptz
);
create index signals_run on coordinator.signals (run_id, recorded_at);
create index signals_pending on coordinator.signals (due_at) where concluded_at is null;

-- Which signal ended a wait by being on record before its time was over.
alter table coordinator.waits
    add column signal_id uuid,
    -- How many hints came, up to which one the source was read, and up to which one the execution was
    -- told. A hint that has not been read yet makes the next read due as soon as the floor allows.
    add column hints bigint not null default 0,
    add column hints_read bigint not null default 0,
    add column hints_told bigint not null default 0;
create index waits_untold on coordinator.waits (opened_at)
    where resolution is null and hints > hints_read and hints_told <= hints_read;

-- Messages of products by the keyed reference of their ids: a repeated one is known, and one that
-- comes before the wait that it is about makes that wait's first read due at once.
create table coordinator.notices (
    source text not null,
    message text not null,
    content text not null,
    signed_at bigint not null,
    source_digest text not null,
    received_at timestamptz not null,
    primary key (source, message)
);
create index notices_subject on coordinator.notices (source_digest);
create index notices_oldest on coordinator.notices (received_at);
