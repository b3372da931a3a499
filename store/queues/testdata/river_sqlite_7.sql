-- What level 7 changes on SQLite: notifications, and JSON in binary form. River rebuilds the table for that; its new
-- defaults do not matter to a submitter that writes all columns.
CREATE TABLE river_notification (
    id integer PRIMARY KEY AUTOINCREMENT,
    created_at timestamp NOT NULL DEFAULT (datetime('now', 'subsec')),
    payload text NOT NULL,
    topic text NOT NULL
);
UPDATE river_job SET args = jsonb(args), metadata = jsonb(metadata), tags = jsonb(tags);
INSERT INTO river_migration (line, version) VALUES ('main', 7);
