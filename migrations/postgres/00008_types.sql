-- On SQLite this file adds triggers that refuse values of wrong types. PostgreSQL's
-- types do that by themselves.

-- +goose Up
SELECT 1;

-- +goose Down
SELECT 1;
