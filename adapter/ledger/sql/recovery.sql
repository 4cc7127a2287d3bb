-- hold_facts: How the holds stand, under the lock that every dispatch shares.
select clock_timestamp() as now, c.restore_hold, c.admissions_hold, c.hold_code, c.held_at,
       c.review_begun_at, c.recovery_completed_at
from coordinator.control c
for update

-- standing_holds: How the holds stand, without a lock.
select clock_timestamp() as now, c.restore_hold, c.admissions_hold, c.hold_code, c.held_at,
       c.review_begun_at, c.recovery_completed_at
from coordinator.control c

-- unnoted_hold: A hold of which the journal has no record yet.
select c.hold_code
from coordinator.control c
where c.restore_hold and not exists (
    select from coordinator.journal j
    where j.chain = 'deployment' and j.kind in ('restore-hold.placed', 'restore-hold.done')
      and j.recorded_at >= c.held_at)

-- place_hold: Stop every dispatch and admission.
update coordinator.control
set restore_hold = true, admissions_hold = true, hold_code = %(code)s, held_at = %(now)s,
    review_begun_at = null, recovery_completed_at = null

-- note_epoch: Remember an epoch.
insert into coordinator.epochs (epoch) values (%(epoch)s) on conflict (epoch) do nothing

-- begin_review: Begin a new epoch under a hold that an operator has taken over.
with begun as (
    insert into coordinator.epochs (epoch) values (%(epoch)s)
)
update coordinator.control
set restore_hold = true, admissions_hold = true, epoch = %(epoch)s, epoch_started_at = %(now)s,
    hold_code = case when hold_code = '' then 'operator' else hold_code end,
    held_at = coalesce(held_at, %(now)s), review_begun_at = %(now)s, recovery_completed_at = null

-- adopt_place: Take the database as it is now for the ledger's own.
update coordinator.watermark
set place = here.place, timeline = here.timeline, replicated = here.replicated
from (select s.system_identifier || '/' || d.oid || '/' || 'coordinator.control'::regclass::oid as place,
             left(pg_walfile_name(pg_current_wal_lsn()), 8) as timeline,
             current_setting('synchronous_standby_names') <> '' as replicated
      from pg_control_system() s, pg_database d where d.datname = current_database()) here
where %(always)s or coordinator.watermark.place is null

-- mark_reviews: Mark every run for review that has not ended or has a doubt, and all that it was told to be told again.
with marked as (
    insert into coordinator.reviews (run_id, owner, scope, marked_at)
    select r.id, r.owner, r.scope, %(now)s
    from coordinator.runs r
    where r.state <> all(%(final)s)
       or exists (select from coordinator.effects e where e.run_id = r.id and e.uncertain)
       or exists (select from coordinator.effects e join coordinator.attempts a using (run_id, visit)
                  where e.run_id = r.id and e.outcome is null and a.settled_as is null)
    on conflict (run_id) do update set marked_at = excluded.marked_at, cleared_at = null, nudged_at = null
    returning run_id
), signals as (
    update coordinator.signals s set told_once = true
    from marked m where m.run_id = s.run_id and s.state = 'done'
), acts as (
    update coordinator.acts a set told_once = true
    from marked m where m.run_id = a.run_id and a.kind <> 'cancel' and a.concluded_at is not null
), hints as (
    update coordinator.waits w set hints_told = least(w.hints_told, w.hints_read)
    from marked m where m.run_id = w.run_id and w.resolution is null
)
select run_id::text as run_id from marked

-- signals_again: Signals that were taken and told once, of runs that go on; of each in the order they came.
-- A run that can not be told anything keeps no other one waiting: the first of each run come first, and
-- runs by chance.
select n.id, n.run_id
from (select s.id::text as id, s.run_id::text as run_id,
             row_number() over (partition by s.run_id order by s.recorded_at, s.id) as place
      from coordinator.signals s
      join coordinator.runs r on r.id = s.run_id
      where s.told_once and s.concluded_at < %(before)s and s.state = 'done'
        and r.state <> all(%(final)s)) n
order by n.place, random()
limit %(limit)s

-- acts_again: Of each effect that acts have settled the last act that was told once, of runs that go on.
select n.id, n.run_id
from (select distinct on (a.run_id, a.visit) a.id::text as id, a.run_id::text as run_id
      from coordinator.acts a
      join coordinator.runs r on r.id = a.run_id
      join coordinator.effects e on e.run_id = a.run_id and e.visit = a.visit
      where a.told_once and a.concluded_at < %(before)s
        and a.outcome in ('accepted', 'confirmed', 'not-applied')
        and e.outcome is not null and not e.uncertain and r.state <> all(%(final)s)
      order by a.run_id, a.visit, a.recorded_at desc) n
order by random()
limit %(limit)s

-- cancels_again: Runs that go on though a cancel is on record, by chance: none that stays keeps another waiting.
select r.id::text as run_id, r.workflow, r.execution
from coordinator.runs r
where r.cancel_requested_at < %(before)s
  and r.state in ('queued', 'running', 'waiting', 'paused', 'attention', 'recovery-required',
                  'cancel-requested')
order by random()
limit %(limit)s

-- forget_told: Of what was told once nothing is told again where a run is over, or nothing was taken.
with signals as (
    update coordinator.signals s set told_once = false
    from coordinator.runs r
    where r.id = s.run_id and s.told_once and s.concluded_at < %(before)s
      and (s.state <> 'done' or r.state = any(%(final)s))
    returning s.id
), acts as (
    update coordinator.acts a set told_once = false
    from coordinator.runs r
    where r.id = a.run_id and a.told_once and a.concluded_at < %(before)s
      and (a.outcome not in ('accepted', 'confirmed', 'not-applied') or r.state = any(%(final)s))
    returning a.id
)
select count(*) as forgotten from (select id from signals union all select id from acts) told

-- signal_repeated: An execution knows of a signal again.
update coordinator.signals set told_once = false where id = %(id)s returning id::text as id

-- act_repeated: An execution knows of an act again.
update coordinator.acts set told_once = false where id = %(id)s returning id::text as id

-- unnudged: Runs that were reviewed and go on, whose execution was not asked since what it stands at.
select r.id::text as run_id, r.workflow, r.execution
from coordinator.reviews v
join coordinator.runs r on r.id = v.run_id
where v.cleared_at is not null and v.nudged_at is null and r.state <> all(%(final)s)
order by random()
limit %(limit)s

-- nudged: Executions were asked.
update coordinator.reviews set nudged_at = clock_timestamp()
where run_id = any(%(runs)s::uuid[]) and cleared_at is not null
returning run_id::text as id

-- open_reviews: Runs under review, in order, after one of them.
select v.run_id::text as run_id
from coordinator.reviews v
where v.cleared_at is null and v.run_id > %(after)s::uuid
order by v.run_id
limit %(limit)s

-- review_facts: What decides how a run under review goes on, read after its lock.
select clock_timestamp() as now,
       exists (select from coordinator.attempts a join coordinator.effects e using (run_id, visit)
               where e.run_id = r.id and e.outcome is null and a.settled_as is null
                 and a.lease_until > clock_timestamp()) as sending,
       exists (select from coordinator.effects e
               where e.run_id = r.id and e.uncertain
                 and not (e.effect = 'evaluation' and r.state = 'cancelled-after-effect')) as uncertain,
       coalesce((select json_agg(distinct e.visit)
                 from coordinator.effects e join coordinator.attempts a using (run_id, visit)
                 where e.run_id = r.id and e.outcome is null and e.effect <> 'read'
                   and (a.settled_as is null or e.uncertain)), '[]') as unsettled
from coordinator.runs r
where r.id = %(run)s

-- lift_position: Put a run's position above what its workflow may have seen before the restore.
update coordinator.runs set position_base = position_base + %(lift)s where id = %(run)s

-- clear_review: A run is reviewed.
update coordinator.reviews set cleared_at = %(now)s where run_id = %(run)s and cleared_at is null

-- complete_review: The executions were compared with their histories.
update coordinator.control set recovery_completed_at = %(now)s

-- unresolved: What is in the way of a release; an unknown evaluation is not, once its run was cancelled.
with doubts as (
    select e.run_id from coordinator.effects e join coordinator.runs r on r.id = e.run_id
    where e.uncertain and not (e.effect = 'evaluation' and r.state = 'cancelled-after-effect')
)
select (select count(*) from coordinator.reviews v where v.cleared_at is null) as reviews,
       (select count(*) from coordinator.reviews v
        where v.cleared_at is null
          and exists (select from doubts d where d.run_id = v.run_id))
           as doubtful_reviews,
       (select count(*) from doubts) as uncertain,
       (select count(*) from coordinator.attempts a join coordinator.effects e using (run_id, visit)
        where e.outcome is null and a.settled_as is null and e.effect <> 'read') as unsettled

-- release_restore_hold: Dispatches may go on; what is left to a person stays in attention.
with left_over as (
    update coordinator.reviews set cleared_at = %(now)s where cleared_at is null
)
update coordinator.control
set restore_hold = false, hold_code = '', held_at = null

-- release_admission_hold: New runs may come in.
update coordinator.control set admissions_hold = false

-- watermark: The ledger's mark, and what it knows of the one in Temporal.
select c.epoch::text as epoch, w.counter, w.marked_epoch::text as marked_epoch, c.restore_hold as held,
       c.review_begun_at is not null as review_begun,
       (select json_agg(e.epoch) from coordinator.epochs e) as known, w.erased_before, w.marked_counter
from coordinator.control c, coordinator.watermark w

-- instant: The database's clock.
select clock_timestamp() as now

-- tick: Count one more pass, unless another one has; notes where the ledger is.
update coordinator.watermark
set counter = counter + 1, ticked_at = clock_timestamp(),
    timeline = left(pg_walfile_name(pg_current_wal_lsn()), 8),
    replicated = current_setting('synchronous_standby_names') <> ''
where counter = %(counter)s
returning counter

-- confirm_mark: Temporal has the mark of this epoch.
update coordinator.watermark w
set marked_epoch = %(epoch)s,
    marked_counter = case when w.marked_epoch = %(epoch)s
                          then greatest(w.marked_counter, %(counter)s) else %(counter)s end
from coordinator.control c where c.epoch = %(epoch)s
returning w.counter

-- passed: A pass of the reconciler has come to its end.
update coordinator.watermark set passed_at = clock_timestamp() returning counter

-- take_unchecked: Unfinished executions that were not compared with Temporal for longest.
update coordinator.executions x
set checked_at = clock_timestamp()
from coordinator.runs r
where r.id = x.run_id
  and (x.run_id, x.execution) in (
      select u.run_id, u.execution from coordinator.executions u
      where u.closed_at is null and u.start_state <> 'start_pending'
      order by u.checked_at nulls first limit %(limit)s for update skip locked)
returning x.run_id::text as run_id, r.workflow, x.execution, x.start_state, x.temporal_run_id,
          r.state as run_state, r.execution as latest, x.created_at

-- unfinished_after: Unfinished executions that Temporal was given, in the order of their ids.
select x.run_id::text as run_id, r.workflow, x.execution, x.start_state, x.temporal_run_id,
       r.state as run_state, r.execution as latest, x.created_at
from coordinator.executions x join coordinator.runs r on r.id = x.run_id
where x.closed_at is null and x.start_state <> 'start_pending'
  and (x.run_id, x.execution) > (%(run)s::uuid, %(execution)s)
order by x.run_id, x.execution limit %(limit)s

-- execution_facts: How an execution stands in the ledger, read after its run's lock.
select clock_timestamp() as now, x.closed_at is not null as closed, x.temporal_run_id,
       exists (select from coordinator.effects e where e.run_id = x.run_id and e.uncertain) as uncertain,
       exists (select from coordinator.waits w where w.run_id = x.run_id and w.resolution is null)
           as waiting
from coordinator.executions x
where x.run_id = %(run)s and x.execution = %(execution)s

-- rebind: Note which Temporal run carries an execution now.
update coordinator.executions set temporal_run_id = %(temporal_run_id)s
where run_id = %(run)s and execution = %(execution)s

-- census: What a doctor asks the ledger.
select clock_timestamp() as now,
       (select i.deployment from coordinator.identity i) as deployment, c.epoch::text as epoch, w.counter, c.restore_hold,
       c.admissions_hold, c.hold_code, c.held_at, c.review_begun_at, w.passed_at,
       (select coalesce(json_object_agg(s.state, s.runs), '{}')
        from (select r.state, count(*) as runs from coordinator.runs r group by r.state) s) as states,
       (select count(*) from coordinator.reviews v where v.cleared_at is null) as reviews,
       (select count(*) from coordinator.effects e where e.uncertain) as uncertain,
       (select count(*) from coordinator.executions x where x.start_state = 'start_failed'
        and x.closed_at is null) as failed_starts,
       (select count(*) from coordinator.executions x where x.start_state = 'start_pending')
           as pending_starts,
       (select min(x.created_at) from coordinator.executions x where x.start_state = 'start_pending')
           as oldest_pending_start,
       (select count(*) from coordinator.acts a where a.concluded_at is null) as open_acts,
       (select min(a.recorded_at) from coordinator.acts a where a.concluded_at is null) as oldest_act,
       (select count(*) from coordinator.signals s where s.concluded_at is null) as open_signals,
       (select min(s.recorded_at) from coordinator.signals s where s.concluded_at is null)
           as oldest_signal,
       (select count(*) from coordinator.waits w
        where w.resolution is null and w.hints > w.hints_read and w.hints_told <= w.hints_read)
           as open_hints,
       (select min(coalesce((select n.received_at from coordinator.notices n
                             where n.source_digest = w.source_digest
                             order by n.received_at offset w.hints_read limit 1), w.observed_at))
        from coordinator.waits w
        where w.resolution is null and w.hints > w.hints_read and w.hints_told <= w.hints_read)
           as oldest_hint,
       (select min(t.due_at) from coordinator.waits t
        where t.resolution is null
           or (t.resolution = 'signal-lost'
               and exists (select from coordinator.executions x
                           where x.run_id = t.run_id and x.closed_at is null))) as oldest_due,
       (select count(*) from coordinator.executions x join coordinator.runs r on r.id = x.run_id
        where x.closed_at is not null and r.erased_at is null) as unerased,
       (select min(x.closed_at) from coordinator.executions x join coordinator.runs r on r.id = x.run_id
        where x.closed_at is not null and r.erased_at is null) as oldest_unerased,
       (select min(j.recorded_at)
        from (select coalesce((select k.horizon from coordinator.checkpoints k
                               order by k.number desc limit 1), '0') as horizon) k,
             lateral (select * from coordinator.journal n
                      where n.transaction >= k.horizon order by n.transaction limit 1000) j
        where j.sequence > coalesce((select max(h.sequence) from coordinator.checkpoint_heads h
                                     where h.chain = j.chain), 0)) as oldest_unsealed
from coordinator.control c, coordinator.watermark w
