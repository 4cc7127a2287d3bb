-- The two roles of a ledger and its database; run once by the server's administrator, see
-- docs/database-roles.md. The passwords come through the environment.
\getenv owner_password OWNER_PASSWORD
\getenv service_password SERVICE_PASSWORD
create role coordinator_owner login password :'owner_password';
create role coordinator_service login password :'service_password';
create database coordinator owner coordinator_owner encoding 'UTF8' locale 'C' template template0;
