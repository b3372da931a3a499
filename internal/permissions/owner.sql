-- The owner of nextrun's tables on PostgreSQL. Run this as a superuser or as whoever may create
-- roles and owns the database, before nextrun migrate up. Then migrate as this role: give it to
-- the login that migrates (GRANT {{role "owner"}} TO deploy), and add options=-c%20role={{role "owner"}}
-- to the URL of the database.
BEGIN;
{{create "owner"}}
CREATE SCHEMA IF NOT EXISTS {{schema}};
GRANT USAGE, CREATE ON SCHEMA {{schema}} TO {{role "owner"}} WITH GRANT OPTION;
-- What strangers create there, such as an operator, nextrun's statements would run. In the schema public
-- everybody may create on PostgreSQL 13 and 14. Only a superuser or the schema's owner can revoke it.
REVOKE CREATE ON SCHEMA {{schema}} FROM PUBLIC;
COMMIT;
