-- A database that assay_owner owns and in which assay may change rows and nothing else.
-- As the server's administrator, after roles.sql:
--   psql -v database=assay -f deploy/postgres/database.sql

\set ON_ERROR_STOP on
CREATE DATABASE :"database" OWNER assay_owner TEMPLATE template0 ENCODING 'UTF8';
REVOKE ALL ON DATABASE :"database" FROM PUBLIC;
GRANT CONNECT ON DATABASE :"database" TO assay;

\connect :"database"
ALTER SCHEMA public OWNER TO assay_owner;
REVOKE ALL ON SCHEMA public FROM PUBLIC;
GRANT USAGE ON SCHEMA public TO assay;
ALTER DEFAULT PRIVILEGES FOR ROLE assay_owner IN SCHEMA public GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO assay;
ALTER DEFAULT PRIVILEGES FOR ROLE assay_owner IN SCHEMA public GRANT USAGE, SELECT ON SEQUENCES TO assay;
-- From PostgreSQL 17 on, assay may also have grown tables looked at (ANALYZE), which older ones leave to autovacuum.
SELECT current_setting('server_version_num')::int >= 170000 AS has_maintain \gset
\if :has_maintain
ALTER DEFAULT PRIVILEGES FOR ROLE assay_owner IN SCHEMA public GRANT MAINTAIN ON TABLES TO assay;
\endif
