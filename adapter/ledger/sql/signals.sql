-- signal: One signal with what its delivery needs.
select s.id::text as id, s.run_id::text as run_id, r.workflow, r.execution, r.state as run_state, s.name,
       s.actor, s.request_digest, s.sealed_payload, s.state, s.outcome, s.visit, s.recorded_at,
       s.concluded_at, k.wrapped_key
from coordinator.signals s
join coordinator.runs r on r.id = s.run_id
left join coordinator.run_keys k on k.run_id = s.run_id
where s.id = %(signal)s

-- count_open: How many signals of a run have no outcome or wait for a wait.
select clock_timestamp() as now,
       (select count(*) from coordinator.signals s
        where s.run_id = r.id and (s.concluded_at is null or s.outcome = 'kept')) as open
from coordinator.runs r
where r.id = %(run)s

-- record: Write a signal down, before anything is sent.
insert into coordinator.signals
    (id, run_id, execution, owner, scope, name, actor, request_digest, sealed_payload, recorded_at,
     due_at)
values (%(signal)s, %(run)s, %(execution)s, %(owner)s, %(scope)s, %(name)s, %(actor)s,
        %(request_digest)s, %(sealed_payload)s, %(now)s, %(now)s + %(patience)s)

-- take_pending: Signals whose next delivery is due, kept from others meanwhile; the pause doubles.
update coordinator.signals s
set deliveries = s.deliveries + 1,
    due_at = clock_timestamp() + power(2, least(s.deliveries, 6)) * interval '1 second'
from coordinator.runs r
where r.id = s.run_id
  and s.id in (select p.id from coordinator.signals p
               where p.concluded_at is null and p.due_at <= clock_timestamp()
               order by p.due_at limit %(limit)s
               for update skip locked)
returning s.id::text as id, s.run_id::text as run_id, r.workflow, r.execution, r.state as run_state,
          s.name, s.actor, s.request_digest, s.sealed_payload, s.state, s.outcome, s.visit,
          s.recorded_at, s.concluded_at,
          (select k.wrapped_key from coordinator.run_keys k where k.run_id = s.run_id) as wrapped_key

-- conclude: Write a signal's outcome; the first one stands, unless it says that no wait has taken it yet.
update coordinator.signals
set state = %(state)s, outcome = %(outcome)s, visit = %(visit)s,
    concluded_at = coalesce(concluded_at, %(now)s)
where id = %(signal)s and (concluded_at is null or outcome = 'kept')

-- completed: Signals whose waits have ended by them, also those that were kept until then.
update coordinator.signals s
set state = 'done', outcome = 'completed', visit = n.visit,
    concluded_at = coalesce(s.concluded_at, %(now)s)
from json_to_recordset(%(waits)s) as n(visit text, resolution text, signal uuid)
where n.signal is not null and s.id = n.signal and s.run_id = %(run)s

-- open_signals: Signals of a name that no wait has taken as far as anybody said, oldest first.
-- One that is kept is taken when its wait opens: at the end of that wait its execution has lost it.
select s.id::text as id, s.sealed_payload
from coordinator.signals s
where s.run_id = %(run)s and s.name = %(name)s and (s.concluded_at is null or s.outcome = 'kept')
  and (%(before)s::timestamptz is null or s.recorded_at < %(before)s)
order by s.recorded_at, s.id

-- ended_wait: How a signal wait ended, and by which signal if it did by one.
select w.resolution, s.id::text as id, s.sealed_payload
from coordinator.waits w
left join coordinator.signals s on s.id = w.signal_id
where w.run_id = %(run)s and w.visit = %(visit)s

-- end_signal_wait: End a signal wait by a signal on record, or by time; an end on record stands.
insert into coordinator.waits
    (run_id, visit, owner, scope, kind, opened_at, resolution, resolved_at, signal_id)
values (%(run)s, %(visit)s, %(owner)s, %(scope)s, 'signal', %(now)s, %(resolution)s, %(now)s,
        %(signal)s)
on conflict (run_id, visit)
do update set resolution = excluded.resolution, resolved_at = excluded.resolved_at,
              signal_id = excluded.signal_id
where coordinator.waits.resolution is null or %(anew)s
