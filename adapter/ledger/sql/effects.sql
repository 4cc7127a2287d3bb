-- effect_facts: Everything a decision about one effect depends on, read after the run's lock.
select clock_timestamp() as now,
       exists (select from coordinator.effects o
               where o.run_id = r.id and o.uncertain and o.visit <> %(visit)s) as uncertain_elsewhere,
       coalesce((select a.act = 'withdraw' from coordinator.activations a
                 where a.workflow = r.workflow and a.revision = r.revision
                 order by a.id desc limit 1), false) as withdrawn,
       coalesce((select json_agg(json_build_array(s.sequence, s.branch, s.node, s.visit, s.kind,
                                                  s.state, s.outlet, s.code))
                 from coordinator.steps s
                 where s.run_id = r.id and s.execution = r.execution and not s.superseded
                   and s.sequence = any(%(sequences)s::bigint[])), '[]') as known,
       e.visit is not null as stored, coalesce(e.after_cancel, false) as after_cancel,
       e.sealed_command, e.outcome, coalesce(e.code, '') as code, e.sealed_reply,
       coalesce(e.uncertain, false) as uncertain, coalesce(a.attempts, 0) as attempts,
       coalesce(a.failed, 0) as failed, coalesce(a.unresolved, 0) as unresolved,
       coalesce(a.later, 0) as later, a.lease_until, a.first_dispatched_at,
       own.attempt as own_attempt, own.settled_as as own_settled_as, a.retry_at
from coordinator.runs r
left join coordinator.effects e on e.run_id = r.id and e.visit = %(visit)s
left join coordinator.attempts own
    on own.run_id = e.run_id and own.visit = e.visit and own.token = %(token)s
left join lateral (
    select count(*) as attempts,
           count(*) filter (where t.settled_as = 'retryable' and t.generation = e.generation
                            and t.token <> %(token)s) as failed,
           count(*) filter (where t.token <> %(token)s
                            and (t.settled_as in ('unknown', 'receipt-expired')
                                 or (t.settled_as is null
                                     and t.attempt < coalesce(own.attempt, 2147483647))))
               as unresolved,
           count(*) filter (where t.attempt > own.attempt and t.settled_as is null) as later,
           max(t.retry_at) filter (where t.generation = e.generation) as retry_at,
           max(t.lease_until) filter (where t.settled_as is null and t.token <> %(token)s)
               as lease_until,
           min(t.dispatched_at) filter (where t.settled_as is distinct from 'withdrawn')
               as first_dispatched_at
    from coordinator.attempts t
    where t.run_id = e.run_id and t.visit = e.visit
) a on true
where r.id = %(run)s

-- store_command: Open an effect with its command; the first one stored stands.
insert into coordinator.effects
    (run_id, visit, owner, scope, operation, effect, connection, generation, after_cancel,
     sealed_command, opened_at)
values (%(run)s, %(visit)s, %(owner)s, %(scope)s, %(operation)s, %(effect)s, %(connection)s,
        %(generation)s, %(after_cancel)s, %(sealed_command)s, %(now)s)
on conflict (run_id, visit) do nothing

-- prepare_command: Give the command on record the preparation that a restore has taken away.
update coordinator.effects set sealed_command = %(sealed_command)s
where run_id = %(run)s and visit = %(visit)s

-- dispatch: Permit one attempt to send until its lease is over.
insert into coordinator.attempts
    (run_id, visit, attempt, owner, scope, generation, token, dispatched_at, lease_until)
values (%(run)s, %(visit)s, %(attempt)s, %(owner)s, %(scope)s, %(generation)s, %(token)s, %(now)s,
        %(now)s + %(lease)s)

-- settle_attempt: Write how one attempt ended; an answer once given stands.
update coordinator.attempts
set settled_as = %(settled_as)s, code = %(code)s, settled_at = %(now)s,
    retry_at = %(now)s + %(pause)s::interval
where run_id = %(run)s and visit = %(visit)s and token = %(token)s
  and (settled_as is null or %(settled_as)s = 'accepted')

-- settle_effect: Write an effect's final reply.
update coordinator.effects
set outcome = %(outcome)s, code = %(code)s, sealed_reply = %(sealed_reply)s,
    uncertain = %(uncertain)s, settled_at = %(now)s
where run_id = %(run)s and visit = %(visit)s

-- store_receipt: Keep the product's own proof.
insert into coordinator.receipts
    (run_id, visit, token, owner, scope, sealed_receipt, received_at)
values (%(run)s, %(visit)s, %(token)s, %(owner)s, %(scope)s, %(sealed_receipt)s, %(now)s)
on conflict (run_id, visit, token) do nothing

-- settle_read: Open and settle a read in one write; a command stored before stands.
insert into coordinator.effects
    (run_id, visit, owner, scope, operation, effect, connection, generation, sealed_command, outcome,
     code, sealed_reply, opened_at, settled_at)
values (%(run)s, %(visit)s, %(owner)s, %(scope)s, %(operation)s, 'read', %(connection)s, 1,
        %(sealed_command)s, %(outcome)s, %(code)s, %(sealed_reply)s, %(now)s, %(now)s)
on conflict (run_id, visit)
do update set outcome = excluded.outcome, code = excluded.code, sealed_reply = excluded.sealed_reply,
              settled_at = excluded.settled_at

-- saved_command: The command on record of an effect and the token of its latest attempt.
select e.sealed_command, r.key_version, k.wrapped_key,
       coalesce((select a.token from coordinator.attempts a
                 where a.run_id = e.run_id and a.visit = e.visit
                 order by a.attempt desc limit 1), '') as token
from coordinator.effects e
join coordinator.runs r on r.id = e.run_id
left join coordinator.run_keys k on k.run_id = r.id
where e.run_id = %(run)s and e.visit = %(visit)s
