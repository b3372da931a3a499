-- The owner of nextrun's tables on PostgreSQL. Run this as a superuser or as whoever may create
-- roles and owns the database, before nextrun migrate up. Then migrate as this role: give it to
-- the login that migrates (GRANT {{role "owner"}} TO deploy), and add options=-c%20role={{role "owner"}}
-- to the URL of the database.
BEGIN;
{{create "owner"}}
CREATE SCHEMA IF NOT EXISTS {{schema}};
GRANT USAGE, CREATE ON SCHEMA {{schema}} TO {{role "owner"}} WITH GRANT OPTION;
COMMIT;
