-- run_status: One run, if the asking owner may see it.
select r.id::text as run_id, r.owner, r.scope, r.workflow, r.version, r.revision, r.state, r.execution,
       r.admitted_at, r.deadline_at, r.cancel_requested_at, r.event_sequence, x.start_state,
       x.temporal_run_id, x.started_at, x.closed_at, x.closing_state, x.outcome, x.sealed_output,
       x.failure_code, x.failure_place,
       exists (select from coordinator.effects e where e.run_id = r.id and e.uncertain) as uncertain,
       exists (select from coordinator.reviews v where v.run_id = r.id and v.cleared_at is null)
           as under_review, r.erased_at, k.wrapped_key
from coordinator.runs r
join coordinator.executions x on x.run_id = r.id and x.execution = r.execution
left join coordinator.run_keys k on k.run_id = r.id
where r.id = %(run)s and (%(owner)s::text is null or r.owner = %(owner)s)
  and (%(workflows)s::text[] is null or r.workflow = any(%(workflows)s))

-- list_runs: Runs newest first, after a place in that order.
select r.id::text as run_id, r.owner, r.scope, r.workflow, r.version, r.revision, r.state, r.execution,
       r.admitted_at, r.deadline_at, r.cancel_requested_at, r.event_sequence, x.start_state,
       x.temporal_run_id, x.started_at, x.closed_at, x.closing_state, x.outcome, x.sealed_output,
       x.failure_code, x.failure_place,
       exists (select from coordinator.effects e where e.run_id = r.id and e.uncertain) as uncertain,
       exists (select from coordinator.reviews v where v.run_id = r.id and v.cleared_at is null)
           as under_review, r.erased_at, k.wrapped_key
from coordinator.runs r
join coordinator.executions x on x.run_id = r.id and x.execution = r.execution
left join coordinator.run_keys k on k.run_id = r.id
where (%(owner)s::text is null or r.owner = %(owner)s)
  and (%(scope)s::text is null or r.scope = %(scope)s)
  and (%(workflows)s::text[] is null or r.workflow = any(%(workflows)s))
  and (%(states)s::text[] is null or r.state = any(%(states)s))
  and (%(before)s::timestamptz is null or (r.admitted_at, r.id) < (%(before)s, %(before_run)s::uuid))
order by r.admitted_at desc, r.id desc
limit %(limit)s

-- run_steps: The latest standing projection of each visit, in the machine's order.
select distinct on (s.execution, s.branch, s.node, s.visit) s.execution, s.sequence, s.branch, s.node,
       s.visit, s.kind, s.state, s.outlet, s.code, s.recorded_at
from coordinator.steps s
where s.run_id = %(run)s and not s.superseded
order by s.execution, s.branch, s.node, s.visit, s.sequence desc

-- run_effects: Effects with their operation and how they stand, oldest first.
select e.visit as reference, e.operation, e.effect, e.connection, e.generation, e.outcome, e.code,
       e.uncertain, e.opened_at, e.settled_at
from coordinator.effects e
where e.run_id = %(run)s
order by e.opened_at, e.visit

-- run_attempts: Every permission to send, oldest first.
select a.visit as reference, a.attempt, a.dispatched_at, a.lease_until, a.settled_as, a.code,
       a.settled_at
from coordinator.attempts a
where a.run_id = %(run)s
order by a.visit, a.attempt

-- run_receipts: Receipts, sealed, in the order of their effects.
select c.visit as reference, c.token, c.sealed_receipt, c.received_at, k.wrapped_key
from coordinator.receipts c
left join coordinator.run_keys k on k.run_id = c.run_id
where c.run_id = %(run)s
order by c.visit, c.received_at

-- run_waits: Waits with their timing, oldest first.
select w.visit as reference, w.kind, w.opened_at, w.due_at, w.observations, w.observed_at,
       w.resolution, w.resolved_at
from coordinator.waits w
where w.run_id = %(run)s
order by w.opened_at, w.visit

-- run_signals: Signals of a run as they stand, oldest first.
select s.id::text as id, s.name, s.outcome, s.visit, s.recorded_at, s.concluded_at
from coordinator.signals s
where s.run_id = %(run)s
order by s.recorded_at, s.id

-- run_events: A run's events after a sequence.
select e.sequence, e.type, e.happened_at, e.data
from coordinator.events e
where e.run_id = %(run)s and e.sequence > %(after)s
order by e.sequence
limit %(limit)s
