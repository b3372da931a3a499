-- Sessions of workers are for PostgreSQL. On SQLite the lock on a file beside the database
-- shows that a worker lives.

-- +goose Up
SELECT 1;

-- +goose Down
SELECT 1;
