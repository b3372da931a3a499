-- The trace in which a job or an event was submitted (W3C Trace Context), so that what
-- runs later can refer to it. It has no bounds: what is no traceparent is ignored.

-- +goose Up
ALTER TABLE job ADD COLUMN traceparent text;
ALTER TABLE event_store ADD COLUMN traceparent text;

-- +goose Down
ALTER TABLE event_store DROP COLUMN traceparent;
ALTER TABLE job DROP COLUMN traceparent;
