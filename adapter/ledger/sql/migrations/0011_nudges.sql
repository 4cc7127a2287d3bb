-- When the execution of a reviewed run was asked to tell the ledger of what it stands at. A ledger that
-- was restored may have lost an unknown effect that only the execution knows.
alter table coordinator.reviews add column nudged_at timestamptz;
