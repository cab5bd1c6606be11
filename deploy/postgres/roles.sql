-- Two roles: assay_owner makes tables (migrations), assay reads and writes rows (web, workers, beat, commands).
-- Once for a server, as its administrator:
--   psql -v owner_password=... -v password=... -f deploy/postgres/roles.sql
-- Then deploy/postgres/database.sql, once for each database.

\set ON_ERROR_STOP on
CREATE ROLE assay_owner LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE PASSWORD :'owner_password';
CREATE ROLE assay LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE PASSWORD :'password';
-- A process that hangs in the middle of a transaction, as on a machine that was put to sleep, holds nobody back for ever.
ALTER ROLE assay SET idle_in_transaction_session_timeout = '5min';
