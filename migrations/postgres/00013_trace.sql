-- The trace in which a job or an event was submitted (W3C Trace Context), so that what
-- runs later can refer to it. It has no bounds: what is no traceparent is ignored.

-- +goose Up
ALTER TABLE job ADD COLUMN traceparent text;
COMMENT ON COLUMN job.traceparent IS 'the W3C traceparent of who submitted the job; NULL: none';
ALTER TABLE event_store ADD COLUMN traceparent text;
COMMENT ON COLUMN event_store.traceparent IS 'the W3C traceparent of who appended the event; NULL: none';

-- +goose Down
ALTER TABLE event_store DROP COLUMN traceparent;
ALTER TABLE job DROP COLUMN traceparent;
