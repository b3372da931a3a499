-- Only postgres/00030_resume.sql has something to correct.

-- +goose Up
SELECT 1;

-- +goose Down
SELECT 1;
