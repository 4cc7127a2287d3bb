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

-- keep_reason: Keep a sealed reason; an equal text has the same reference.
insert into coordinator.reasons (reference, sealed_text) values (%(reference)s, %(sealed_text)s)
on conflict (reference) do nothing

-- reasons: Sealed reasons by their references.
select reference, sealed_text from coordinator.reasons where reference = any(%(references)s)

-- instant: The database's clock.
select clock_timestamp() as now

-- take_sealing: Be the only sealer until the transaction ends, unless another one is; where that is.
select pg_try_advisory_xact_lock(%(lock)s) as mine, clock_timestamp() as now,
       pg_snapshot_xmin(pg_current_snapshot())::text as xmin,
       s.system_identifier || '/' || d.oid || '/' || 'coordinator.control'::regclass::oid as place
from pg_control_system() s, pg_database d where d.datname = current_database()

-- last_checkpoint: The last checkpoint, and from which transaction on its look has to be continued.
select c.number, c.previous as follows, c.heads, c.root, c.signed_at, c.key_version, c.signature,
       c.place, c.horizon::text as horizon,
       c.horizon <= pg_snapshot_xmax(pg_current_snapshot()) as begun
from coordinator.checkpoints c
order by c.number desc
limit 1

-- changed_heads: Chains that grew since the last look, in the order of their ids.
select g.chain, l.sequence, l.hash as head, coalesce(s.sequence, 0) as sealed_before
from (select distinct j.chain from coordinator.journal j
      where j.transaction >= %(horizon)s::text::xid8) g
cross join lateral (select j.sequence, j.hash from coordinator.journal j
                    where j.chain = g.chain order by j.sequence desc limit 1) l
left join lateral (select h.sequence from coordinator.checkpoint_heads h
                   where h.chain = g.chain order by h.sequence desc limit 1) s on true
where l.sequence > coalesce(s.sequence, 0)
order by g.chain collate "C"
limit %(limit)s

-- unsealed_heads: The same by looking at every chain, whatever transaction wrote to it.
select g.chain, l.sequence, l.hash as head, coalesce(s.sequence, 0) as sealed_before
from (select r.id::text as chain from coordinator.runs r
      union all select c.chain from coordinator.chains c) g
cross join lateral (select j.sequence, j.hash from coordinator.journal j
                    where j.chain = g.chain order by j.sequence desc limit 1) l
left join lateral (select h.sequence from coordinator.checkpoint_heads h
                   where h.chain = g.chain order by h.sequence desc limit 1) s on true
where l.sequence > coalesce(s.sequence, 0)
order by g.chain collate "C"
limit %(limit)s

-- write_checkpoint: Keep a signed checkpoint with its leaves.
with leaves as (
    insert into coordinator.checkpoint_heads
        (checkpoint, leaf, chain, sequence, head, sealed_before)
    select %(number)s, n.leaf, n.chain, n.sequence, decode(n.head, 'hex'), n.before
    from json_to_recordset(%(leaves)s)
         as n(leaf integer, chain text, sequence bigint, head text, before bigint)
)
insert into coordinator.checkpoints
    (number, previous, heads, root, signed_at, key_version, signature, hash, horizon, place)
values (%(number)s, %(previous)s, %(heads)s, %(root)s, %(signed_at)s, %(key_version)s, %(signature)s,
        %(hash)s, %(horizon)s::text::xid8, %(place)s)

-- sealed_journal: Checkpoints with their leaves and the records under each, in the order of a proof.
select c.number, c.previous as follows, c.heads, c.root, c.signed_at, c.key_version, c.signature,
       h.leaf, h.chain as head_chain, h.sequence as head_sequence, h.head,
       j.chain, j.sequence, j.previous, j.hash, j.kind, j.recorded_at, j.refs, j.detail
from coordinator.checkpoints c
left join coordinator.checkpoint_heads h on h.checkpoint = c.number
left join coordinator.journal j
    on j.chain = h.chain and j.sequence > h.sealed_before and j.sequence <= h.sequence
where c.number > %(after)s
order by c.number, h.leaf, j.sequence

-- unsealed_journal: Records that no checkpoint has sealed yet.
select j.chain, j.sequence, j.previous, j.hash, j.kind, j.recorded_at, j.refs, j.detail
from coordinator.journal j
left join (select h.chain, max(h.sequence) as sequence
           from coordinator.checkpoint_heads h group by h.chain) s on s.chain = j.chain
where j.sequence > coalesce(s.sequence, 0)
order by j.chain collate "C", j.sequence

-- chain_journal: The records of one chain.
select j.chain, j.sequence, j.previous, j.hash, j.kind, j.recorded_at, j.refs, j.detail
from coordinator.journal j
where j.chain = %(chain)s
order by j.sequence

-- standing_heads: How far every chain is, as its run's own row says.
select r.id::text as chain, r.journal_sequence as sequence, r.journal_head as head
from coordinator.runs r
union all
select c.chain, c.sequence, c.head from coordinator.chains c where c.sequence > 0

-- count_records: How many records there are.
select count(*) as records from coordinator.journal

-- checkpoint_before: The last checkpoint that was signed before an instant.
select c.number, c.previous as follows, c.heads, c.root, c.signed_at, c.key_version, c.signature
from coordinator.checkpoints c
where c.signed_at < %(instant)s
order by c.number desc
limit 1

-- latest_checkpoint: The last checkpoint.
select c.number, c.previous as follows, c.heads, c.root, c.signed_at, c.key_version, c.signature
from coordinator.checkpoints c
order by c.number desc
limit 1

-- chain_checkpoints: The checkpoints that have sealed one chain, oldest first.
select c.number, c.previous as follows, c.heads, c.root, c.signed_at, c.key_version, c.signature
from coordinator.checkpoint_heads h
join coordinator.checkpoints c on c.number = h.checkpoint
where h.chain = %(chain)s
order by c.number

-- leaves: The heads under one checkpoint, in their order.
select h.chain, h.sequence, h.head
from coordinator.checkpoint_heads h
where h.checkpoint = %(checkpoint)s
order by h.leaf
