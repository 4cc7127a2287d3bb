-- known_start: The run that a start identity named, and what it was asked for.
select k.run_id::text as run_id, k.revision, k.input_digest, x.start_state, x.execution
from coordinator.idempotency_keys k
join coordinator.runs r on r.id = k.run_id
join coordinator.executions x on x.run_id = r.id and x.execution = r.execution
where k.start_identity = %(identity)s

-- admission_facts: The active package of a workflow, the holds, and the instant of admission.
select clock_timestamp() as now, c.admissions_hold or c.restore_hold as held, a.revision, a.package,
       p.version, d.deadline_seconds,
       exists (select from coordinator.packages o where o.workflow = %(workflow)s) as known_workflow
from coordinator.control c
left join lateral (
    select act.revision, act.package, act.id
    from coordinator.activations act
    where act.workflow = %(workflow)s and act.act = 'activate'
    order by act.id desc limit 1
) newest on true
left join coordinator.activations a on a.id = newest.id and not exists (
    select from coordinator.activations w
    where w.workflow = %(workflow)s and w.revision = newest.revision and w.act = 'withdraw'
      and w.id > newest.id)
left join coordinator.packages p on p.digest = a.package
left join coordinator.definitions d on d.revision = a.revision
for share of c

-- insert_run: Admit a run with everything that belongs to its admission.
with run as (
    insert into coordinator.runs
        (id, owner, scope, workflow, version, revision, package, binding, key_version, state,
         admitted_at, deadline_at)
    values (%(run)s, %(owner)s, %(scope)s, %(workflow)s, %(version)s, %(revision)s, %(package)s,
            %(binding)s, %(key_version)s, 'queued', %(now)s, %(deadline_at)s)
), key as (
    insert into coordinator.idempotency_keys
        (start_identity, run_id, owner, scope, workflow, revision, input_digest)
    values (%(identity)s, %(run)s, %(owner)s, %(scope)s, %(workflow)s, %(revision)s,
            %(input_digest)s)
), data_key as (
    insert into coordinator.run_keys (run_id, owner, scope, wrapped_key)
    values (%(run)s, %(owner)s, %(scope)s, %(wrapped_key)s)
), input as (
    insert into coordinator.inputs (run_id, owner, scope, sealed_input)
    values (%(run)s, %(owner)s, %(scope)s, %(sealed_input)s)
)
insert into coordinator.executions (run_id, execution, owner, scope, start_state, created_at)
values (%(run)s, 1, %(owner)s, %(scope)s, 'start_pending', %(now)s)

-- start_facts: What the start of an execution is made of.
select r.id::text as run_id, r.workflow, r.version, r.revision, r.binding, r.execution, r.admitted_at,
       r.deadline_at, i.sealed_input, k.wrapped_key, c.restore_hold as held
from coordinator.runs r
join coordinator.inputs i on i.run_id = r.id
left join coordinator.run_keys k on k.run_id = r.id
cross join coordinator.control c
where r.id = %(run)s

-- execution_start: How far an execution's start has come.
select clock_timestamp() as now, start_state, temporal_run_id
from coordinator.executions
where run_id = %(run)s and execution = %(execution)s

-- bind_started: Bind an execution to the Temporal run that carries it.
update coordinator.executions
set start_state = 'started', start_code = '', temporal_run_id = %(temporal_run_id)s,
    started_at = coalesce(started_at, %(now)s)
where run_id = %(run)s and execution = %(execution)s

-- start_failed: Record that Temporal refused an execution's start.
update coordinator.executions
set start_state = 'start_failed', start_code = %(code)s
where run_id = %(run)s and execution = %(execution)s

-- pending_starts: Executions that Temporal may not have, oldest first; none under a restore hold.
select x.run_id::text as run_id, x.execution, x.created_at
from coordinator.executions x
where x.start_state = 'start_pending'
  and not (select c.restore_hold from coordinator.control c)
  and x.created_at <= clock_timestamp() - %(older_than)s::interval
order by x.created_at
limit %(limit)s
