-- A pause that a product asked for, or that the policy makes, is kept by the ledger too, for the
-- activity or the execution in which the call is made again.
alter table coordinator.attempts add column retry_at timestamptz;
