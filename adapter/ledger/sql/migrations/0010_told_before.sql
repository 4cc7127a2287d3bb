-- What was told long before 0008 needs no second telling: Temporal was given many marks since. What a
-- review has marked stays to be told.
update coordinator.signals s set told_once = false
where s.told_once and s.concluded_at < clock_timestamp() - interval '1 hour' and s.due_at <> '-infinity'
  and not exists (select from coordinator.reviews v where v.run_id = s.run_id);
update coordinator.acts a set told_once = false
where a.told_once and a.concluded_at < clock_timestamp() - interval '1 hour' and a.due_at <> '-infinity'
  and not exists (select from coordinator.reviews v where v.run_id = a.run_id);
