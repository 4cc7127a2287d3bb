-- run_key: The wrapped data key of a run, null once the run is erased, and the run's revision.
select k.wrapped_key, r.revision
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

-- state_keys: The marks of sealing keys, and whether anything is still under each.
select s.version, s.custody,
       exists (select from coordinator.run_keys k where k.key_version = s.version)
       or exists (select from coordinator.definitions d where d.key_version = s.version)
       or exists (select from coordinator.reasons r where r.key_version = s.version) as used
from coordinator.state_keys s
order by s.version

-- note_state_key: Leave the mark of a sealing key; the first one stands.
insert into coordinator.state_keys (version, custody) values (%(version)s, %(custody)s)
on conflict (version) do nothing
returning version

-- key_uses: How much is under each version of the sealing key.
select v.version, coalesce(k.count, 0) as run_keys, coalesce(d.count, 0) as definitions,
       coalesce(r.count, 0) as reasons, v.noted_at
from (select version, min(noted_at) as noted_at
      from (select s.version, s.noted_at from coordinator.state_keys s
            union all select k.key_version, null from coordinator.run_keys k group by 1
            union all select d.key_version, null from coordinator.definitions d group by 1
            union all select r.key_version, null from coordinator.reasons r group by 1) every
      where version is not null group by version) v
left join (select key_version, count(*) from coordinator.run_keys group by 1) k
    on k.key_version = v.version
left join (select key_version, count(*) from coordinator.definitions group by 1) d
    on d.key_version = v.version
left join (select key_version, count(*) from coordinator.reasons group by 1) r
    on r.key_version = v.version
order by v.version

-- definitions_to_reseal: Definitions under another version than the active one, after one, locked.
select revision as id, sealed_definition as sealed
from coordinator.definitions
where key_version <> %(active)s and revision > %(after)s
order by revision limit %(limit)s
for no key update

-- reseal_definitions: Definitions under the active version.
update coordinator.definitions d set sealed_definition = n.sealed
from unnest(%(ids)s::text[], %(sealed)s::bytea[]) as n(id, sealed)
where d.revision = n.id

-- reasons_to_reseal: Reasons under another version than the active one, after one, locked.
select reference as id, sealed_text as sealed
from coordinator.reasons
where key_version <> %(active)s and reference > %(after)s
order by reference limit %(limit)s
for no key update

-- reseal_reasons: Reasons under the active version.
update coordinator.reasons r set sealed_text = n.sealed
from unnest(%(ids)s::text[], %(sealed)s::bytea[]) as n(id, sealed)
where r.reference = n.id

-- run_keys_to_rewrap: Data keys under another version than the active one, after one, locked.
select run_id::text as id, wrapped_key as sealed
from coordinator.run_keys
where key_version <> %(active)s and run_id > %(after)s::uuid
order by run_id limit %(limit)s
for no key update

-- rewrap_run_keys: Data keys under the active version.
update coordinator.run_keys k set wrapped_key = n.sealed
from unnest(%(ids)s::uuid[], %(sealed)s::bytea[]) as n(id, sealed)
where k.run_id = n.id
