-- What keeps a scheduler that runs from scheduling, so that others can say it.

-- +goose Up
ALTER TABLE worker_service ADD COLUMN trouble text;

-- +goose Down
ALTER TABLE worker_service DROP COLUMN trouble;
