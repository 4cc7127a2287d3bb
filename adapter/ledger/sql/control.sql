-- bind_deployment: Make this database one deployment's, the first time it is opened.
insert into coordinator.identity (deployment, custody) values (%(deployment)s, %(custody)s)
on conflict (single) do nothing
returning deployment, custody

-- deployment: Which deployment this database belongs to, and the mark of its admission key.
select deployment, custody from coordinator.identity
