-- Operators' acts: written before anything happens, delivered to Temporal under their own id until
-- they have an outcome. `due_at` is when the next delivery or look is due; `preconditions` is what the
-- act was judged by, in codes and numbers; `generation` the one of the effect that the act is about.
create table coordinator.acts (
    id uuid primary key,
    run_id uuid not null references coordinator.runs,
    execution integer not null,
    owner text not null,
    scope text not null,
    kind text not null check (kind in ('retry-same', 'reconcile', 'cancel')),
    visit text not null,
    generation integer not null,
    sequence bigint not null,
    actor text not null,
    request_digest text not null,
    reason_reference text not null,
    sealed_reason bytea not null,
    preconditions jsonb not null,
    state text not null default 'recorded'
        check (state in ('recorded', 'delivered', 'done', 'refused')),
    outcome text not null default '',
    code text not null default '',
    deliveries integer not null default 0,
    recorded_at timestamptz not null,
    due_at timestamptz not null,
    delivered_at timestamptz,
    concluded_at timestamptz
);
create index acts_run on coordinator.acts (run_id, recorded_at);
create index acts_pending on coordinator.acts (due_at) where concluded_at is null;
