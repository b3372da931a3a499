-- The owner of nextrun's tables on PostgreSQL. Run this as a superuser or as whoever may create
-- roles and owns the database, before nextrun migrate up:
--
--   psql DATABASE -f owner.sql
--   psql DATABASE -v schema=jobs -v prefix=shop_ -f owner.sql
--
-- schema is that of the tables (public), prefix what the names of the roles begin with (nextrun_).
-- Then migrate as this role: GRANT nextrun_owner TO deploying; ALTER ROLE deploying SET role = nextrun_owner,
-- for the login that migrates. Without the second statement the tables would belong to that login.
\set ON_ERROR_STOP on
\if :{?schema}
\else
  \set schema public
\endif
\if :{?prefix}
\else
  \set prefix nextrun_
\endif
\set owner :prefix owner

BEGIN;
SELECT format('CREATE ROLE %I NOLOGIN', :'owner') WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = :'owner') \gexec
CREATE SCHEMA IF NOT EXISTS :"schema";
GRANT USAGE, CREATE ON SCHEMA :"schema" TO :"owner" WITH GRANT OPTION;
-- What strangers create there, such as an operator, nextrun's statements would run. In the schema public
-- everybody may create on PostgreSQL 13 and 14. Only a superuser or the schema's owner can revoke it.
REVOKE CREATE ON SCHEMA :"schema" FROM PUBLIC;
COMMIT;
