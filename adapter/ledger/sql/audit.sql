-- lock_chain: Lock the head of a chain that is no run's.
select clock_timestamp() as now, h.sequence, h.head
from coordinator.chains h
where h.chain = %(chain)s
for update

-- append: Add records to a chain that is no run's.
with chain as (
    update coordinator.chains
    set sequence = %(journal_sequence)s, head = %(journal_head)s
    where chain = %(chain)s
)
insert into coordinator.journal
    (chain, sequence, owner, scope, previous, hash, kind, recorded_at, refs, detail)
select %(chain)s, n.sequence, '', '', decode(n.previous, 'hex'), decode(n.hash, 'hex'), n.kind,
       %(now)s, n.refs, n.detail
from json_to_recordset(%(journal)s)
     as n(sequence bigint, previous text, hash text, kind text, refs jsonb, detail jsonb)

-- instant: The database's clock.
select clock_timestamp() as now
