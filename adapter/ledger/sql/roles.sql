-- role: What the connected role is, what it may that no service needs, and what every one needs.
select to_regnamespace('coordinator') is not null as schema,
       array(
           select distinct power.words
           from pg_roles r,
                lateral (values (r.rolsuper, 'is a superuser'),
                                (r.rolcreaterole, 'may create roles'),
                                (r.rolcreatedb, 'may create databases'),
                                (r.rolbypassrls, 'passes by row security'),
                                (r.rolreplication, 'may replicate')) as power(granted, words)
           where power.granted
             and (r.rolname = current_user or pg_has_role(session_user, r.oid, 'member'))
           union all
           -- What it inherits is seen with every other right below; this it would have to become.
           select 'may become ' || g.rolname
           from pg_roles g
           where pg_has_role(session_user, g.oid, 'member')
             and not pg_has_role(current_user, g.oid, 'usage')
           union all
           select 'owns the schema'
           from pg_namespace n
           where n.nspname = 'coordinator' and pg_has_role(session_user, n.nspowner, 'member')
           union all
           select 'owns ' || c.relname
           from pg_class c
           where c.relnamespace = to_regnamespace('coordinator') and c.relkind in ('r', 'p', 'v', 'm')
             and pg_has_role(session_user, c.relowner, 'member')
           union all
           select 'may create in the schema'
           from pg_namespace n
           where n.nspname = 'coordinator' and has_schema_privilege(n.oid, 'create')
           union all
           select 'may create schemas' where has_database_privilege(current_database(), 'create')
           union all
           select 'may call ' || p.oid::regprocedure || ' as the owner'
           from pg_proc p, pg_namespace n
           where n.nspname = 'coordinator' and p.prosecdef and p.proowner = n.nspowner
             and has_function_privilege(p.oid, 'execute')
           union all
           select 'may write through ' || c.oid::regclass
           from pg_class c, pg_namespace n
           where n.nspname = 'coordinator' and c.relkind = 'v' and c.relowner = n.nspowner
             and (has_table_privilege(c.oid, 'delete')
                  or has_any_column_privilege(c.oid, 'insert, update'))
           union all
           select 'is a member of ' || g.rolname
           from pg_roles g
           where g.rolname in ('pg_write_all_data', 'pg_write_server_files', 'pg_read_server_files',
                               'pg_execute_server_program', 'pg_maintain')
             and pg_has_role(session_user, g.oid, 'member')
       ) as powers,
       array(
           select 'use the schema'
           from pg_namespace n
           where n.nspname = 'coordinator' and not has_schema_privilege(n.oid, 'usage')
           union all
           select 'call ' || f.name
           from unnest(array['pg_control_system()', 'pg_current_wal_lsn()',
                             'pg_walfile_name(pg_lsn)']) as f(name)
           where not has_function_privilege(f.name, 'execute')
       ) as lacking

-- table_rights: What the connected role may do with each table of the ledger, by whatever way.
select c.relname::text as name,
       has_table_privilege(c.oid, 'select') as reads,
       has_any_column_privilege(c.oid, 'insert') as inserts,
       has_table_privilege(c.oid, 'delete') as deletes,
       array(select a.attname::text
             from pg_attribute a
             where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
               and has_column_privilege(c.oid, a.attnum, 'update')
             order by a.attname) as updates,
       array(select lower(p.name)
             from unnest(case when current_setting('server_version_num')::integer >= 170000
                              then array['TRUNCATE', 'REFERENCES', 'TRIGGER', 'MAINTAIN']
                              else array['TRUNCATE', 'REFERENCES', 'TRIGGER'] end) as p(name)
             where has_table_privilege(c.oid, p.name)
                or (p.name = 'REFERENCES' and has_any_column_privilege(c.oid, p.name)))
       || array(select 'pass on ' || lower(p.name)
                from unnest(array['SELECT', 'INSERT', 'UPDATE', 'REFERENCES']) as p(name)
                where has_any_column_privilege(c.oid, p.name || ' WITH GRANT OPTION')
                union all
                select 'pass on delete' where has_table_privilege(c.oid, 'DELETE WITH GRANT OPTION')
       ) as further
from pg_class c
where c.relnamespace = 'coordinator'::regnamespace and c.relkind in ('r', 'p')
order by c.relname

-- migrations: Which migrations the ledger has.
select name from coordinator.migrations
