-- bind_deployment: Make this database one deployment's, the first time it is opened.
update coordinator.control
set deployment = coalesce(deployment, %(deployment)s), custody = coalesce(custody, %(custody)s)
where deployment is null
returning deployment, custody

-- deployment: Which deployment this database belongs to, and the mark of its admission key.
select deployment, custody from coordinator.control
