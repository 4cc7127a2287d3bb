-- A data key for each run, wrapped by the deployment's state key, and what rotation and erasure need.
-- Nothing that belongs to a run is sealed under anything else, so destroying its key erases it
-- wherever a copy may be.

-- One row for each run, written with its admission. `wrapped_key` is rewritten by a rotation and null
-- once the run is erased; its header names the version of the state key.
create table coordinator.run_keys (
    run_id uuid primary key references coordinator.runs,
    owner text not null,
    scope text not null,
    wrapped_key bytea,
    key_version bigint generated always as (
        get_byte(wrapped_key, 2)::bigint << 24 | get_byte(wrapped_key, 3) << 16
        | get_byte(wrapped_key, 4) << 8 | get_byte(wrapped_key, 5)) stored
);
create index run_keys_version on coordinator.run_keys (key_version, run_id);

-- Payloads that are too large for Temporal, by their keyed digest; sealed under the run's key, so that
-- PostgreSQL has nothing to gain by compressing them.
create table coordinator.payloads (
    run_id uuid not null references coordinator.runs,
    digest text not null,
    owner text not null,
    scope text not null,
    sealed_payload bytea not null,
    stored_at timestamptz not null default clock_timestamp(),
    primary key (run_id, digest)
);
alter table coordinator.payloads alter column sealed_payload set storage external;

-- The marks by which this database recognises the state keys that it was written with.
create table coordinator.state_keys (
    version bigint primary key,
    custody text not null,
    noted_at timestamptz not null default clock_timestamp()
);

alter table coordinator.definitions add column key_version bigint generated always as (
    get_byte(sealed_definition, 2)::bigint << 24 | get_byte(sealed_definition, 3) << 16
    | get_byte(sealed_definition, 4) << 8 | get_byte(sealed_definition, 5)) stored;
create index definitions_version on coordinator.definitions (key_version, revision);

-- Runs that ended before this were erased as far as they could be; Temporal keeps a copy, so that a
-- restored ledger learns what has to be erased again.
alter table coordinator.watermark add column erased_before timestamptz;

-- What a product calls its receipt is a word of the product: it stands in the sealed receipt alone.
alter table coordinator.receipts drop column receipt_id;
