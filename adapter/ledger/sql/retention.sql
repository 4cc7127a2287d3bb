-- erasable: Runs that ended before an instant and that nothing can be done about any more.
select r.id::text as run_id, r.revision, r.state, x.closed_at,
       not exists (select from coordinator.effects e
                   where e.run_id = r.id and e.outcome is distinct from 'accepted') as all_accepted
from coordinator.runs r
join coordinator.executions x on x.run_id = r.id and x.execution = r.execution
where r.erased_at is null and x.closed_at < %(before)s and r.state = any(%(final)s)
  and not exists (select from coordinator.effects e where e.run_id = r.id and e.uncertain)
  and not exists (select from coordinator.effects e join coordinator.attempts a using (run_id, visit)
                  where e.run_id = r.id and e.outcome is null and a.settled_as is null
                    and (e.effect <> 'read' or a.lease_until > clock_timestamp()))
  and not exists (select from coordinator.acts a where a.run_id = r.id and a.concluded_at is null)
  and not exists (select from coordinator.signals s where s.run_id = r.id and s.concluded_at is null)
  and not exists (select from coordinator.reviews v where v.run_id = r.id and v.cleared_at is null)
  and (x.closed_at, r.id) > (%(after_at)s, %(after)s::uuid)
order by x.closed_at, r.id
limit %(limit)s

-- erase: Destroy a run's data key and remove what it sealed; ids, states, digests and times stay.
with input as (
    delete from coordinator.inputs where run_id = %(run)s
), effect as (
    update coordinator.effects set sealed_command = '\x', sealed_reply = null where run_id = %(run)s
), receipt as (
    update coordinator.receipts set sealed_receipt = '\x' where run_id = %(run)s
), wait as (
    update coordinator.waits set source_digest = null where run_id = %(run)s
), signal as (
    update coordinator.signals set sealed_payload = '\x' where run_id = %(run)s
), act as (
    update coordinator.acts set sealed_reason = '\x' where run_id = %(run)s
), payload as (
    delete from coordinator.payloads where run_id = %(run)s
), output as (
    update coordinator.executions set sealed_output = null where run_id = %(run)s
), data_key as (
    update coordinator.run_keys set wrapped_key = null where run_id = %(run)s
), noted as (
    update coordinator.watermark
    set erased_before = greatest(erased_before, %(closed_at)s + interval '1 microsecond')
)
update coordinator.runs set erased_at = %(now)s where id = %(run)s

-- note_erased: Runs that ended before this are to be erased as far as they can be.
update coordinator.watermark
set erased_before = greatest(erased_before, %(before)s::timestamptz)
returning erased_before

-- erased_before: Up to which instant runs were erased, here or before a restore.
select erased_before from coordinator.watermark
