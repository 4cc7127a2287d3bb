-- The audit journal's own: chains that belong to no run, and checkpoints over the heads of all chains.

-- The heads of chains that are no run's. A row of its own, because every dispatch and admission shares
-- the lock of `control`, and a note about the deployment must not wait for them nor they for it.
create table coordinator.chains (
    chain text primary key,
    sequence bigint not null default 0,
    head bytea not null default '\x'
);
insert into coordinator.chains (chain, sequence, head)
select 'deployment', journal_sequence, journal_head from coordinator.control;
alter table coordinator.control drop column journal_sequence, drop column journal_head;

-- Which deployment this database belongs to, and the mark of its admission key: written once. Apart
-- from `control`, because the service changes that row and must not be able to change this one.
create table coordinator.identity (
    single boolean primary key default true check (single),
    deployment text not null,
    custody text not null
);
insert into coordinator.identity (deployment, custody)
select deployment, custody from coordinator.control where deployment is not null;
alter table coordinator.control drop column deployment, drop column custody;

-- Which transaction wrote a record. The sealer looks on from the oldest transaction that was open when
-- it looked last, so that none that commits late is passed over.
alter table coordinator.journal add column transaction xid8 not null default pg_current_xact_id();
create index journal_transaction on coordinator.journal (transaction);

-- Checkpoints: what is signed is built from these columns alone. `horizon` and `place` are no part of
-- it: the transaction that the next look begins at, and the database that its number is of.
create table coordinator.checkpoints (
    number bigint primary key,
    previous bytea not null,
    heads integer not null,
    root bytea not null,
    signed_at timestamptz not null,
    key_version bigint not null,
    signature bytea not null,
    hash bytea not null,
    horizon xid8 not null,
    place text not null
);

-- The leaves of their trees: the heads that had changed. `sealed_before` is the chain's sequence that
-- an earlier checkpoint has sealed.
create table coordinator.checkpoint_heads (
    checkpoint bigint not null,
    leaf integer not null,
    chain text not null,
    sequence bigint not null,
    head bytea not null,
    sealed_before bigint not null,
    primary key (chain, sequence)
);
create unique index checkpoint_heads_leaves on coordinator.checkpoint_heads (checkpoint, leaf);
