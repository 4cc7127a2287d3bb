-- What operators gave as reasons and evidence for acts about the whole deployment, by the keyed
-- reference that the journal has for it; sealed under the deployment's key.
create table coordinator.reasons (
    reference text primary key,
    sealed_text bytea not null,
    given_at timestamptz not null default clock_timestamp(),
    key_version bigint generated always as (
        get_byte(sealed_text, 2)::bigint << 24 | get_byte(sealed_text, 3) << 16
        | get_byte(sealed_text, 4) << 8 | get_byte(sealed_text, 5)) stored
);
create index reasons_version on coordinator.reasons (key_version, reference);
