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
