-- open_wait: Open a wait; one that is open stays as it is. A notice that came before it is a hint.
insert into coordinator.waits
    (run_id, visit, owner, scope, kind, opened_at, due_at, source_digest, hints)
select %(run)s, %(visit)s, %(owner)s, %(scope)s, %(kind)s, %(now)s, %(due_at)s, %(source_digest)s,
       count(*)
from coordinator.notices n
where n.source_digest = %(source_digest)s
on conflict (run_id, visit) do nothing

-- wait_facts: How a wait stands, and the instant to judge it by.
select clock_timestamp() as now, w.opened_at, w.due_at, w.observations, w.observed_at, w.resolution,
       w.hints, w.hints_read,
       (select max(o.observed_at) from coordinator.waits o
        where o.run_id = w.run_id and o.source_digest = w.source_digest) as source_read_at,
       r.deadline_at,
       r.cancel_requested_at is not null
           and not exists (select from coordinator.waits c
                           where c.run_id = w.run_id and c.resolution = 'cancelled') as stopped
from coordinator.waits w
join coordinator.runs r on r.id = w.run_id
where w.run_id = %(run)s and w.visit = %(visit)s

-- count_observation: Count one reading of a wait's source.
update coordinator.waits
set observations = observations + 1, observed_at = greatest(clock_timestamp(), %(at)s),
    hints_read = greatest(hints_read, %(hints)s)
where run_id = %(run)s and visit = %(visit)s
returning observations, hints > hints_read as hinted

-- resolve_wait: Record how a wait ended, for one that was never opened too.
insert into coordinator.waits
    (run_id, visit, owner, scope, kind, opened_at, resolution, resolved_at)
values (%(run)s, %(visit)s, %(owner)s, %(scope)s, '', %(now)s, %(resolution)s, %(now)s)
on conflict (run_id, visit)
do update set resolution = excluded.resolution, resolved_at = excluded.resolved_at
where coordinator.waits.resolution is null

-- end_waits: Write how waits ended that nobody ended before, opened or not; the end of the run says least.
insert into coordinator.waits as w
    (run_id, visit, owner, scope, kind, opened_at, resolution, resolved_at, signal_id)
select distinct on (n.visit) %(run)s, n.visit, %(owner)s, %(scope)s,
       case when n.resolution = 'resumed' then 'signal' else '' end, %(now)s, n.resolution, %(now)s,
       n.signal
from json_to_recordset(%(waits)s) as n(visit text, resolution text, signal uuid)
on conflict (run_id, visit)
do update set resolution = excluded.resolution, resolved_at = excluded.resolved_at,
              signal_id = coalesce(w.signal_id, excluded.signal_id)
where w.resolution is null or (w.resolution = 'closed' and w.resolved_at = %(now)s)

-- share_source: Keep a notice about this source and the opening of a wait on it apart.
select pg_advisory_xact_lock(hashtextextended(%(source_digest)s, 0))::text as done

-- share_message: Keep two messages under one id apart.
select pg_advisory_xact_lock(hashtextextended(%(source)s || ' ' || %(message)s, 1))::text as done

-- notice: A message of a product that came before.
select content, signed_at from coordinator.notices
where source = %(source)s and message = %(message)s
for update

-- keep_notice: Remember a message, and forget some that are older than a month.
with old as (
    delete from coordinator.notices
    where (source, message) in (
        select o.source, o.message from coordinator.notices o
        where o.received_at < clock_timestamp() - interval '30 days'
        order by o.received_at limit 20)
)
insert into coordinator.notices (source, message, content, signed_at, source_digest, received_at)
values (%(source)s, %(message)s, %(content)s, %(signed_at)s, %(source_digest)s, clock_timestamp())

-- keep_signature: A message was sent again under a new signature.
update coordinator.notices set signed_at = %(signed_at)s
where source = %(source)s and message = %(message)s

-- hint_waits: Count a hint for every open wait that reads this source.
update coordinator.waits w
set hints = w.hints + 1
where w.source_digest = %(source_digest)s and w.resolution is null

-- untold_waits: Open waits with a hint that is not read and that their execution was not told of.
select w.run_id::text as run_id, w.visit as reference, r.workflow, r.execution, w.hints
from coordinator.waits w
join coordinator.runs r on r.id = w.run_id
where w.resolution is null and w.hints > w.hints_read and w.hints_told <= w.hints_read
  and (%(source_digest)s::text is null or w.source_digest = %(source_digest)s)
order by w.opened_at
limit 100

-- told_wait: The execution was told of the hints so far.
update coordinator.waits
set hints_told = greatest(hints_told, %(hints)s)
where run_id = %(run)s and visit = %(visit)s
returning hints_told

-- ahead: Calls and ended waits after a sequence number, completions once the run went on, and what a cancel ended.
select p.visit, w.resolution, g.id::text as id, g.sealed_payload, p.opened, p.sequence
from (select s.run_id, s.kind, s.branch || '/' || s.node || ':' || s.visit as visit,
             min(s.sequence) as sequence, bool_or(s.state = 'waiting') as opened,
             bool_or(s.state not in ('running', 'waiting')) as over
      from coordinator.steps s
      join coordinator.runs r on r.id = s.run_id and r.execution = s.execution
      where s.run_id = %(run)s and not s.superseded and s.sequence > %(after)s
        and s.kind in ('call', 'wait')
      group by s.run_id, s.kind, s.branch, s.node, s.visit) p
left join coordinator.waits w on w.run_id = p.run_id and w.visit = p.visit
left join coordinator.signals g on g.id = w.signal_id
where p.kind = 'call'
   or (w.resolution not in ('cancelled', 'closed')
       and (p.over or w.resolution not in ('completed', 'gone')))
union all
select w.visit, w.resolution, null, null, true, 0
from coordinator.waits w
where w.run_id = %(run)s and w.resolution = 'cancelled'
order by sequence
