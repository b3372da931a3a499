-- What keeps a scheduler that runs from scheduling, so that others can say it.

-- +goose Up
ALTER TABLE worker_service ADD COLUMN trouble text;
COMMENT ON COLUMN worker_service.trouble IS 'the error that keeps a scheduler from its work at present, if there is one';

-- +goose Down
ALTER TABLE worker_service DROP COLUMN trouble;
