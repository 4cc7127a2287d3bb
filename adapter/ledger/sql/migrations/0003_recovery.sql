-- What is needed to notice that the ledger or Temporal was restored, to hold the deployment until a
-- person has looked, and to look after runs: epochs, the watermark, reviews, checks and erasure.

-- `hold_code` says who placed the restore hold; `review_begun_at` when an operator took it over.
-- An effect that is absent although its call was scheduled before `epoch_started_at` may have been
-- sent.
alter table coordinator.control
    drop column counter,
    add column epoch_started_at timestamptz not null default clock_timestamp(),
    add column hold_code text not null default '',
    add column held_at timestamptz,
    add column review_begun_at timestamptz,
    add column recovery_completed_at timestamptz;

-- Every epoch that this ledger has had or has seen in Temporal.
create table coordinator.epochs (
    epoch uuid primary key,
    noted_at timestamptz not null default clock_timestamp()
);
insert into coordinator.epochs (epoch) select epoch from coordinator.control;

-- One row beside `control`, because dispatches share that one's lock and a tick must not wait for
-- them. `counter` is ticked by each pass of the reconciler and copied to Temporal; `marked_epoch` is
-- the epoch of the last copy. `place` and `timeline` tell this database from a copy of it, and
-- `replicated` says that a standby had confirmed every commit when they were noted.
create table coordinator.watermark (
    single boolean primary key default true check (single),
    counter bigint not null default 0,
    marked_epoch uuid,
    place text,
    timeline text,
    replicated boolean not null default false,
    ticked_at timestamptz,
    passed_at timestamptz
);
insert into coordinator.watermark default values;

-- Runs that a person has to look at before the restore hold is released.
create table coordinator.reviews (
    run_id uuid primary key references coordinator.runs,
    owner text not null,
    scope text not null,
    marked_at timestamptz not null,
    cleared_at timestamptz
);
create index reviews_open on coordinator.reviews (run_id) where cleared_at is null;

-- `position_base` lifts a run's position above everything that its workflow saw before a restore.
alter table coordinator.runs
    add column position_base bigint not null default 0,
    add column erased_at timestamptz;

alter table coordinator.executions add column checked_at timestamptz;
create index executions_unchecked on coordinator.executions (checked_at nulls first)
    where closed_at is null and start_state <> 'start_pending';
create index executions_closed on coordinator.executions (closed_at) where closed_at is not null;
