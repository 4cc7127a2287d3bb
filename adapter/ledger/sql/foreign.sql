-- noted: What the journal of a run says of foreign payloads by now.
select clock_timestamp() as now, count(*)::integer as noted,
       coalesce(bool_or(j.refs ->> 'payload' = %(payload)s), false) as known
from coordinator.journal j
where j.chain = %(run)s and j.kind = 'payload.foreign'
