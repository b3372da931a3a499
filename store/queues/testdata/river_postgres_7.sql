-- What levels 7 and 8 change on PostgreSQL; level 8 itself changes nothing there.
CREATE TABLE river_notification (
    id bigserial PRIMARY KEY,
    created_at timestamptz NOT NULL DEFAULT now(),
    payload text NOT NULL,
    topic text NOT NULL
);
ALTER TABLE river_job ALTER COLUMN max_attempts SET DEFAULT 25;
ALTER TABLE river_queue ALTER COLUMN updated_at SET DEFAULT current_timestamp;
INSERT INTO river_migration (line, version) VALUES ('main', 7);
