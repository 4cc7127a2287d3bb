-- open_wait: Open a wait; one that is open stays as it is.
insert into coordinator.waits
    (run_id, visit, owner, scope, kind, opened_at, due_at, source_digest)
values (%(run)s, %(visit)s, %(owner)s, %(scope)s, %(kind)s, %(now)s, %(due_at)s, %(source_digest)s)
on conflict (run_id, visit) do nothing

-- wait_facts: How a wait stands, and the instant to judge it by.
select clock_timestamp() as now, w.opened_at, w.due_at, w.observations, w.observed_at, w.resolution
from coordinator.waits w
where w.run_id = %(run)s and w.visit = %(visit)s

-- count_observation: Count one reading of a wait's source.
update coordinator.waits
set observations = observations + 1, observed_at = greatest(clock_timestamp(), %(at)s)
where run_id = %(run)s and visit = %(visit)s
returning observations

-- resolve_wait: Record how a wait ended, for one that was never opened too.
insert into coordinator.waits
    (run_id, visit, owner, scope, kind, opened_at, resolution, resolved_at)
values (%(run)s, %(visit)s, %(owner)s, %(scope)s, '', %(now)s, %(resolution)s, %(now)s)
on conflict (run_id, visit)
do update set resolution = excluded.resolution, resolved_at = excluded.resolved_at
where coordinator.waits.resolution is null

-- open_waits: Waits of unfinished runs that read one source.
select w.run_id::text as run_id, w.visit as reference, r.workflow, r.execution
from coordinator.waits w
join coordinator.runs r on r.id = w.run_id
where w.source_digest = %(source_digest)s and w.resolution is null
order by w.opened_at
limit 100
