-- What Temporal was told is told again once, after its copy of the ledger's mark was moved on: so what
-- it loses with a restore is either told again, or the restore is noticed by the mark.

-- The counter of the last copy that Temporal has confirmed, of `marked_epoch`.
alter table coordinator.watermark add column marked_counter bigint;

-- True until it was told again.
alter table coordinator.signals add column told_once boolean not null default true;
create index signals_told_once on coordinator.signals (concluded_at)
    where told_once and concluded_at is not null;
alter table coordinator.acts add column told_once boolean not null default true;
create index acts_told_once on coordinator.acts (concluded_at)
    where told_once and concluded_at is not null;

-- A cancel is told again as long as its run goes on.
create index runs_cancelled on coordinator.runs (cancel_requested_at)
    where cancel_requested_at is not null
      and state in ('queued', 'running', 'waiting', 'paused', 'attention', 'recovery-required',
                    'cancel-requested');
