-- See the file for PostgreSQL. On SQLite a statement that waits begins after the lock is gone.

-- +goose Up
SELECT 1;

-- +goose Down
SELECT 1;
