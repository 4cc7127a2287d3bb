-- The ledger as it begins. Every row of a run carries the run's owner and scope, so that a rule about
-- who may see what never needs a join. Columns named sealed_* hold envelopes of adapter.crypto;
-- ids, states, codes, times and digests are plain.

-- One row: what the whole deployment stands on. `epoch` and `counter` are compared with the copy that
-- Temporal keeps, to notice a restored ledger; the holds stop dispatch and admission.
create table coordinator.control (
    single boolean primary key default true check (single),
    deployment text,
    custody text,
    epoch uuid not null default gen_random_uuid(),
    counter bigint not null default 0,
    restore_hold boolean not null default false,
    admissions_hold boolean not null default false,
    journal_sequence bigint not null default 0,
    journal_head bytea not null default '\x'
);
insert into coordinator.control default values;

-- Execution forms by revision: insert-only, shared by every package with that revision.
create table coordinator.definitions (
    revision text primary key,
    workflow text not null,
    deadline_seconds bigint not null,
    sealed_definition bytea not null,
    stored_at timestamptz not null
);

create table coordinator.packages (
    digest text primary key,
    workflow text not null,
    version text not null,
    revision text not null references coordinator.definitions,
    labels jsonb not null,
    stored_at timestamptz not null
);
create index packages_version on coordinator.packages (workflow, version);

-- Append-only: the newest `activate` of a workflow names its active package until a later `withdraw`
-- of the same revision.
create table coordinator.activations (
    id bigint generated always as identity primary key,
    workflow text not null,
    revision text not null references coordinator.definitions,
    package text not null references coordinator.packages,
    act text not null check (act in ('activate', 'withdraw')),
    actor text not null,
    acted_at timestamptz not null
);
create index activations_workflow on coordinator.activations (workflow, id desc);
create index activations_revision on coordinator.activations (workflow, revision, id desc);

-- Every write of a run locks its row here. The columns that hot writes change are in no index, so
-- that those updates stay on their page.
create table coordinator.runs (
    id uuid primary key,
    owner text not null,
    scope text not null,
    workflow text not null,
    version text not null,
    revision text not null references coordinator.definitions,
    package text not null references coordinator.packages,
    binding jsonb not null,
    key_version integer not null,
    state text not null,
    execution integer not null default 1,
    admitted_at timestamptz not null,
    deadline_at timestamptz not null,
    cancel_requested_at timestamptz,
    event_sequence bigint not null default 0,
    journal_sequence bigint not null default 0,
    journal_head bytea not null default '\x'
) with (fillfactor = 70);
create index runs_newest on coordinator.runs (admitted_at desc, id desc);
create index runs_owner on coordinator.runs (owner, admitted_at desc, id desc);

create table coordinator.inputs (
    run_id uuid primary key references coordinator.runs,
    owner text not null,
    scope text not null,
    sealed_input bytea not null
);

-- Spent keys: what a repeated start is compared with, for good.
create table coordinator.idempotency_keys (
    start_identity text primary key,
    run_id uuid not null unique references coordinator.runs,
    owner text not null,
    scope text not null,
    workflow text not null,
    revision text not null,
    input_digest text not null
);

-- One Temporal execution of a run and how it ended. `closing_state` without `closed_at` is an end
-- that is wanted while an effect is still unknown.
create table coordinator.executions (
    run_id uuid not null references coordinator.runs,
    execution integer not null,
    owner text not null,
    scope text not null,
    start_state text not null,
    start_code text not null default '',
    temporal_run_id text,
    created_at timestamptz not null,
    started_at timestamptz,
    closing_state text,
    outcome text not null default '',
    failure_code text not null default '',
    failure_place text not null default '',
    sealed_output bytea,
    closed_at timestamptz,
    primary key (run_id, execution)
);
create index executions_pending on coordinator.executions (created_at)
    where start_state = 'start_pending';
create index executions_open on coordinator.executions (created_at) where closed_at is null;

-- One visit of a call node. `outcome` is the final reply's class, null while the effect is open;
-- `uncertain` is true while the product may hold something that the ledger has no answer for.
create table coordinator.effects (
    run_id uuid not null references coordinator.runs,
    visit text not null,
    owner text not null,
    scope text not null,
    operation text not null,
    effect text not null,
    connection text not null,
    generation integer not null,
    after_cancel boolean not null default false,
    sealed_command bytea not null,
    outcome text,
    code text not null default '',
    sealed_reply bytea,
    uncertain boolean not null default false,
    opened_at timestamptz not null,
    settled_at timestamptz,
    primary key (run_id, visit)
) with (fillfactor = 80);
create index effects_uncertain on coordinator.effects (run_id) where uncertain;

-- One permission to send. `settled_as` is the class of its answer, `withdrawn` when nothing was sent
-- under it, null while it may have been sent and nobody knows.
create table coordinator.attempts (
    run_id uuid not null,
    visit text not null,
    attempt integer not null,
    owner text not null,
    scope text not null,
    generation integer not null,
    token text not null,
    dispatched_at timestamptz not null,
    lease_until timestamptz not null,
    settled_as text,
    code text not null default '',
    settled_at timestamptz,
    primary key (run_id, visit, token),
    foreign key (run_id, visit) references coordinator.effects
) with (fillfactor = 80);

create table coordinator.receipts (
    run_id uuid not null,
    visit text not null,
    token text not null,
    owner text not null,
    scope text not null,
    receipt_id text not null,
    sealed_receipt bytea not null,
    received_at timestamptz not null,
    primary key (run_id, visit, token),
    foreign key (run_id, visit) references coordinator.effects
);

create table coordinator.waits (
    run_id uuid not null references coordinator.runs,
    visit text not null,
    owner text not null,
    scope text not null,
    kind text not null,
    opened_at timestamptz not null,
    due_at timestamptz,
    source_digest text,
    observations bigint not null default 0,
    observed_at timestamptz,
    resolution text,
    resolved_at timestamptz,
    primary key (run_id, visit)
) with (fillfactor = 80);
create index waits_source on coordinator.waits (source_digest)
    where source_digest is not null and resolution is null;

-- Projections in the machine's own order. A record that another one replaced, because the branch of
-- events it came from was abandoned, stays and is marked.
create table coordinator.steps (
    id bigint generated always as identity primary key,
    run_id uuid not null references coordinator.runs,
    execution integer not null,
    sequence bigint not null,
    owner text not null,
    scope text not null,
    branch text not null,
    node text not null,
    visit integer not null,
    kind text not null,
    state text not null,
    outlet text not null,
    code text not null,
    recorded_at timestamptz not null,
    superseded boolean not null default false
) with (fillfactor = 80);
create unique index steps_standing on coordinator.steps (run_id, execution, sequence)
    where not superseded;

-- The outbox. `sequence` is free of gaps within a run. A reader over all runs orders by
-- (`transaction`, `position`) and stops at pg_snapshot_xmin, or it skips what commits late.
create table coordinator.events (
    run_id uuid not null references coordinator.runs,
    sequence bigint not null,
    owner text not null,
    scope text not null,
    type text not null,
    happened_at timestamptz not null,
    data jsonb not null,
    transaction xid8 not null default pg_current_xact_id(),
    position bigint generated always as identity,
    primary key (run_id, sequence)
);

-- The audit journal: one hash chain for each run (its id) and one for the deployment's own acts
-- ('deployment'). References are keyed; `detail` holds codes, classes and counts.
create table coordinator.journal (
    chain text not null,
    sequence bigint not null,
    owner text not null,
    scope text not null,
    previous bytea not null,
    hash bytea not null,
    kind text not null,
    recorded_at timestamptz not null,
    refs jsonb not null,
    detail jsonb not null,
    primary key (chain, sequence)
);
