-- standing_run: A run's row as it stands, without its lock.
select r.id::text as id, r.owner, r.scope, r.workflow, r.version, r.revision, r.state, r.execution,
       r.deadline_at, r.cancel_requested_at, r.key_version, r.event_sequence, r.journal_sequence,
       r.journal_head, c.restore_hold as held, k.wrapped_key
from coordinator.runs r
left join coordinator.run_keys k on k.run_id = r.id
cross join coordinator.control c
where r.id = %(run)s

-- act_candidates: Effects that an act may be about: those in doubt, the named one, the latest answer.
select clock_timestamp() as now, e.visit, e.generation, e.uncertain, e.effect, e.settled_at,
       coalesce((select max(s.sequence) from coordinator.steps s
                 where s.run_id = e.run_id and s.execution = r.execution and not s.superseded
                   and s.state = 'running'
                   and s.branch || '/' || s.node || ':' || s.visit = e.visit), 0) + 1 as sequence
from coordinator.runs r
join coordinator.effects e on e.run_id = r.id
where r.id = %(run)s
  and (e.uncertain or e.visit = %(visit)s
       or (r.state = 'attention' and e.effect <> 'read' and e.outcome is not null))
order by e.settled_at desc nulls last, e.visit

-- instant: The database's clock.
select clock_timestamp() as now

-- act: One act with what its delivery needs.
select a.id::text as id, a.run_id::text as run_id, r.workflow, r.execution, a.kind, a.visit,
       a.generation, a.sequence, a.actor, a.request_digest, a.sealed_reason, a.preconditions, a.state,
       a.outcome, a.code, a.recorded_at, a.delivered_at, a.concluded_at, k.wrapped_key
from coordinator.acts a
join coordinator.runs r on r.id = a.run_id
left join coordinator.run_keys k on k.run_id = a.run_id
where a.id = %(act)s

-- run_acts: A run's acts, oldest first.
select a.id::text as id, a.run_id::text as run_id, r.workflow, r.execution, a.kind, a.visit,
       a.generation, a.sequence, a.actor, a.request_digest, a.sealed_reason, a.preconditions, a.state,
       a.outcome, a.code, a.recorded_at, a.delivered_at, a.concluded_at, k.wrapped_key
from coordinator.acts a
join coordinator.runs r on r.id = a.run_id
left join coordinator.run_keys k on k.run_id = a.run_id
where a.run_id = %(run)s
order by a.recorded_at, a.id

-- record_act: Write an act down, before anything happens.
insert into coordinator.acts
    (id, run_id, execution, owner, scope, kind, visit, generation, sequence, actor, request_digest,
     reason_reference, sealed_reason, preconditions, recorded_at, due_at)
values (%(act)s, %(run)s, %(execution)s, %(owner)s, %(scope)s, %(kind)s, %(visit)s, %(generation)s,
        %(sequence)s, %(actor)s, %(request_digest)s, %(reason_reference)s, %(sealed_reason)s,
        %(preconditions)s, %(now)s, %(now)s + %(patience)s)

-- reopen_effect: Open an unknown effect for one more generation of its saved command.
update coordinator.effects
set generation = %(generation)s, outcome = null, code = '', sealed_reply = null, settled_at = null
where run_id = %(run)s and visit = %(visit)s and uncertain

-- take_pending: Acts whose next delivery is due, kept from others meanwhile; the pause doubles.
update coordinator.acts a
set deliveries = a.deliveries + 1,
    due_at = clock_timestamp() + least(power(2, a.deliveries), 60) * interval '1 second'
from coordinator.runs r
where r.id = a.run_id
  and a.id in (select p.id from coordinator.acts p
               where p.concluded_at is null and p.due_at <= clock_timestamp()
               order by p.due_at limit %(limit)s
               for update skip locked)
returning a.id::text as id, a.run_id::text as run_id, r.workflow, r.execution, a.kind, a.visit,
          a.generation, a.sequence, a.actor, a.request_digest, a.sealed_reason, a.preconditions,
          a.state, a.outcome, a.code, a.recorded_at, a.delivered_at, a.concluded_at,
          (select k.wrapped_key from coordinator.run_keys k where k.run_id = a.run_id) as wrapped_key

-- act_delivered: The execution has taken an act.
update coordinator.acts
set state = 'delivered', delivered_at = clock_timestamp()
where id = %(act)s and state = 'recorded'
returning id::text as id

-- act_progress: What an act's outcome is read from.
select a.kind, a.state, a.generation, a.concluded_at is not null as concluded, r.state as run_state,
       coalesce(e.generation, 0) as effect_generation, e.outcome as effect_outcome,
       coalesce(e.code, '') as effect_code, coalesce(e.uncertain, false) as effect_uncertain,
       exists (select from coordinator.effects u
               where u.run_id = a.run_id and u.uncertain and u.effect = 'mutation'
                 and u.outcome is not null) as unknown_mutation
from coordinator.acts a
join coordinator.runs r on r.id = a.run_id
left join coordinator.effects e on e.run_id = a.run_id and e.visit = a.visit
where a.id = %(act)s

-- conclude_act: Write an act's outcome; the first one stands.
update coordinator.acts
set state = %(state)s, outcome = %(outcome)s, code = %(code)s, concluded_at = %(now)s
where id = %(act)s and concluded_at is null

-- late_answers: Effects that were settled by a late answer while their run still stands in attention.
select r.id::text as run_id, e.visit, e.generation
from coordinator.executions x
join coordinator.runs r on r.id = x.run_id and r.execution = x.execution
cross join lateral (
    select o.visit, o.generation, o.settled_at
    from coordinator.effects o
    where o.run_id = r.id and o.effect <> 'read' and o.outcome is not null
    order by o.settled_at desc limit 1
) e
where x.closed_at is null and r.state = 'attention'
  and e.settled_at < clock_timestamp() - %(older_than)s::interval
  and not exists (select from coordinator.effects u where u.run_id = r.id and u.uncertain)
limit %(limit)s
