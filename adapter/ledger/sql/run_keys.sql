-- run_key: The wrapped data key of a run; null once the run is erased.
select k.wrapped_key
from coordinator.runs r
left join coordinator.run_keys k on k.run_id = r.id
where r.id = %(run)s

-- store_payload: Keep a sealed payload of a run that is not erased; one with the same digest is the same.
with run as (
    select r.id, r.owner, r.scope, k.wrapped_key is null as erased
    from coordinator.runs r
    left join coordinator.run_keys k on k.run_id = r.id
    where r.id = %(run)s
), stored as (
    insert into coordinator.payloads (run_id, digest, owner, scope, sealed_payload)
    select run.id, %(digest)s, run.owner, run.scope, %(sealed_payload)s from run where not run.erased
    on conflict (run_id, digest) do nothing
)
select erased from run

-- payload: A sealed payload of a run by its digest.
select sealed_payload from coordinator.payloads where run_id = %(run)s and digest = %(digest)s
