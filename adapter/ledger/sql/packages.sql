-- store_definition: Keep an execution form; one with the same revision is the same.
insert into coordinator.definitions (revision, workflow, deadline_seconds, sealed_definition, stored_at)
values (%(revision)s, %(workflow)s, %(deadline_seconds)s, %(sealed_definition)s, %(now)s)
on conflict (revision) do nothing

-- store_package: Keep a package; one with the same digest is the same.
insert into coordinator.packages (digest, workflow, version, revision, labels, stored_at)
values (%(digest)s, %(workflow)s, %(version)s, %(revision)s, %(labels)s, %(now)s)
on conflict (digest) do nothing

-- append_activation: Add an act to a workflow's activations.
insert into coordinator.activations (workflow, revision, package, act, actor, acted_at)
values (%(workflow)s, %(revision)s, %(package)s, %(act)s, %(actor)s, %(now)s)

-- load_definition: A sealed execution form by its revision.
select sealed_definition from coordinator.definitions where revision = %(revision)s

-- run_revision: The revision that a run was admitted with.
select revision from coordinator.runs where id = %(run)s

-- active_packages: The active package of one workflow, or of every workflow.
select distinct on (a.workflow) a.workflow, a.revision, a.package, p.version, p.labels,
       a.acted_at as activated_at
from coordinator.activations a
join coordinator.packages p on p.digest = a.package
where a.act = 'activate' and (%(workflow)s::text is null or a.workflow = %(workflow)s)
  and not exists (select from coordinator.activations w
                  where w.workflow = a.workflow and w.revision = a.revision and w.act = 'withdraw'
                    and w.id > a.id)
  and not exists (select from coordinator.activations n
                  where n.workflow = a.workflow and n.act = 'activate' and n.id > a.id)
order by a.workflow, a.id desc

-- package_facts: What the ledger knows of a package and its version, under the lock of all applies.
select clock_timestamp() as now,
       exists (select from coordinator.definitions d where d.revision = %(revision)s)
           as definition_stored,
       exists (select from coordinator.packages p where p.digest = %(digest)s) as package_stored,
       (select p.revision from coordinator.packages p
        where p.workflow = %(workflow)s and p.version = %(version)s and p.revision <> %(revision)s
        limit 1) as other_revision

-- lock_control: Keep every other change of packages out.
select single from coordinator.control for update
