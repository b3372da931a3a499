-- See the file for PostgreSQL. On SQLite nobody else creates functions or operators.

-- +goose Up
SELECT 1;

-- +goose Down
SELECT 1;
