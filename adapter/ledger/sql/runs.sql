-- lock_run: Lock a run's row; the hold is read as it stands.
select r.id::text as id, r.owner, r.scope, r.workflow, r.version, r.revision, r.state, r.execution,
       r.deadline_at, r.cancel_requested_at, r.key_version, r.event_sequence, r.journal_sequence,
       r.journal_head, c.restore_hold as held, r.position_base, c.epoch_started_at, k.wrapped_key
from coordinator.runs r
left join coordinator.run_keys k on k.run_id = r.id
cross join coordinator.control c
where r.id = %(run)s
for no key update of r

-- lock_run_and_hold: Lock a run's row and share the hold's, so that neither a cancel nor a hold slips in.
select r.id::text as id, r.owner, r.scope, r.workflow, r.version, r.revision, r.state, r.execution,
       r.deadline_at, r.cancel_requested_at, r.key_version, r.event_sequence, r.journal_sequence,
       r.journal_head, c.restore_hold as held, r.position_base, c.epoch_started_at, k.wrapped_key
from coordinator.runs r
left join coordinator.run_keys k on k.run_id = r.id
cross join coordinator.control c
where r.id = %(run)s
for no key update of r for share of c

-- run_facts: The instant after the locks, the projections on record and the effects in doubt.
select clock_timestamp() as now,
       exists (select from coordinator.effects e where e.run_id = r.id and e.uncertain) as uncertain,
       coalesce((select json_agg(json_build_array(s.sequence, s.branch, s.node, s.visit, s.kind,
                                                  s.state, s.outlet, s.code))
                 from coordinator.steps s
                 where s.run_id = r.id and s.execution = r.execution and not s.superseded
                   and s.sequence = any(%(sequences)s::bigint[])), '[]') as known
from coordinator.runs r
where r.id = %(run)s

-- write_entry: Everything that a transaction adds to a run beside its own subject.
with standing as (
    update coordinator.runs
    set state = %(state)s, cancel_requested_at = %(cancel_requested_at)s,
        event_sequence = %(event_sequence)s, journal_sequence = %(journal_sequence)s,
        journal_head = %(journal_head)s
    where id = %(run)s
), written as (
    insert into coordinator.steps
        (run_id, execution, sequence, owner, scope, branch, node, visit, kind, state, outlet, code,
         recorded_at)
    select %(run)s, %(execution)s, n.sequence, %(owner)s, %(scope)s, n.branch, n.node, n.visit,
           n.kind, n.state, n.outlet, n.code, %(now)s
    from json_to_recordset(%(steps)s)
         as n(sequence bigint, branch text, node text, visit integer, kind text, state text,
              outlet text, code text)
    on conflict (run_id, execution, sequence) where not superseded
    do update set state = excluded.state, outlet = excluded.outlet, code = excluded.code,
                  recorded_at = excluded.recorded_at
), told as (
    insert into coordinator.events (run_id, sequence, owner, scope, type, happened_at, data)
    select %(run)s, n.sequence, %(owner)s, %(scope)s, n.type, %(now)s, n.data
    from json_to_recordset(%(events)s) as n(sequence bigint, type text, data jsonb)
)
insert into coordinator.journal
    (chain, sequence, owner, scope, previous, hash, kind, recorded_at, refs, detail)
select %(run)s, n.sequence, %(owner)s, %(scope)s, decode(n.previous, 'hex'), decode(n.hash, 'hex'),
       n.kind, %(now)s, n.refs, n.detail
from json_to_recordset(%(journal)s)
     as n(sequence bigint, previous text, hash text, kind text, refs jsonb, detail jsonb)

-- supersede_steps: Mark the records of an abandoned branch of events, at given sequences.
update coordinator.steps
set superseded = true
where run_id = %(run)s and execution = %(execution)s and not superseded
  and sequence = any(%(sequences)s::bigint[])

-- closing_facts: How an execution stands and what its run's effects say about an end.
select clock_timestamp() as now, x.closing_state, x.closed_at is not null as closed, x.outcome,
       x.sealed_output, x.failure_code,
       exists (select from coordinator.effects e where e.run_id = x.run_id
               and ((e.effect <> 'read' and e.outcome = 'accepted')
                    or (e.effect = 'evaluation' and e.uncertain))) as changed_something,
       exists (select from coordinator.effects e
               where e.run_id = x.run_id and e.uncertain and e.effect = 'mutation') as uncertain_mutation,
       exists (select from coordinator.effects e
               where e.run_id = x.run_id and e.uncertain and e.effect = 'evaluation')
           as uncertain_evaluation,
       coalesce((select json_agg(distinct jsonb_build_array(e.visit, e.effect))
                 from coordinator.effects e
                 join coordinator.attempts a using (run_id, visit)
                 where e.run_id = x.run_id and e.outcome is null and e.effect <> 'read'
                   and a.settled_as is null), '[]') as unanswered,
       coalesce((select json_agg(e.visit)
                 from coordinator.effects e cross join coordinator.control c
                 where e.run_id = x.run_id and e.outcome is null and e.effect = 'mutation'
                   and e.opened_at < c.epoch_started_at), '[]') as predating,
       coalesce((select json_agg(json_build_array(s.sequence, s.branch, s.node, s.visit, s.kind,
                                                  s.state, s.outlet, s.code))
                 from coordinator.steps s
                 where s.run_id = x.run_id and s.execution = x.execution and not s.superseded
                   and s.sequence = any(%(sequences)s::bigint[])), '[]') as known
from coordinator.executions x
where x.run_id = %(run)s and x.execution = %(execution)s

-- declare_unknown: Settle effects that may have been sent as unknown.
update coordinator.effects
set outcome = 'unknown', code = %(code)s, uncertain = true, settled_at = %(now)s
where run_id = %(run)s and visit = any(%(visits)s)

-- close_execution: Write an execution's end, or the end it wants while an effect is unknown.
with abandoned as (
    update coordinator.steps
    set superseded = true
    where run_id = %(run)s and execution = %(execution)s and not superseded and sequence > %(last)s
), ended as (
    update coordinator.waits
    set resolution = 'closed', resolved_at = %(now)s
    where run_id = %(run)s and resolution is null
)
update coordinator.executions
set closing_state = %(state)s, outcome = %(outcome)s, failure_code = %(failure_code)s,
    failure_place = %(failure_place)s, sealed_output = %(sealed_output)s, closed_at = %(closed_at)s
where run_id = %(run)s and execution = %(execution)s and closed_at is null

-- conclude_execution: Turn a wanted end into the end, now that no effect is unknown.
update coordinator.executions
set closing_state = %(state)s, closed_at = %(now)s
where run_id = %(run)s and execution = %(execution)s and closed_at is null

-- closed_execution: The end on record of an execution.
select closing_state as state, outcome, sealed_output, failure_code
from coordinator.executions
where run_id = %(run)s and execution = %(execution)s and closed_at is not null
