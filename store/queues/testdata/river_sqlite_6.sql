-- River's tables on SQLite at schema level 6, as far as a submitter can tell. JSON is text.
CREATE TABLE river_migration (
    line text NOT NULL,
    version integer NOT NULL,
    created_at timestamp NOT NULL DEFAULT CURRENT_TIMESTAMP,
    PRIMARY KEY (line, version)
);
INSERT INTO river_migration (line, version) VALUES
    ('main', 1), ('main', 2), ('main', 3), ('main', 4), ('main', 5), ('main', 6);

CREATE TABLE river_job (
    id integer PRIMARY KEY,
    args blob NOT NULL DEFAULT '{}',
    attempt integer NOT NULL DEFAULT 0,
    attempted_at timestamp,
    attempted_by blob,
    created_at timestamp NOT NULL DEFAULT CURRENT_TIMESTAMP,
    errors blob,
    finalized_at timestamp,
    kind text NOT NULL,
    max_attempts integer NOT NULL,
    metadata blob NOT NULL DEFAULT (json('{}')),
    priority integer NOT NULL DEFAULT 1,
    queue text NOT NULL DEFAULT 'default',
    state text NOT NULL DEFAULT 'available',
    scheduled_at timestamp NOT NULL DEFAULT CURRENT_TIMESTAMP,
    tags blob NOT NULL DEFAULT (json('[]')),
    unique_key blob,
    unique_states integer,
    CONSTRAINT finalized_or_finalized_at_null CHECK (
        (finalized_at IS NOT NULL) = (state IN ('cancelled', 'completed', 'discarded'))),
    CONSTRAINT priority_in_range CHECK (priority BETWEEN 1 AND 4),
    CONSTRAINT queue_length CHECK (length(queue) BETWEEN 1 AND 127),
    CONSTRAINT kind_length CHECK (length(kind) BETWEEN 1 AND 127),
    CONSTRAINT state_valid CHECK (state IN (
        'available', 'cancelled', 'completed', 'discarded', 'pending', 'retryable', 'running', 'scheduled'))
);
CREATE INDEX river_job_kind ON river_job (kind);
CREATE INDEX river_job_state_and_finalized_at_index ON river_job (state, finalized_at) WHERE finalized_at IS NOT NULL;
CREATE INDEX river_job_prioritized_fetching_index ON river_job (state, queue, priority, scheduled_at, id);
CREATE UNIQUE INDEX river_job_unique_idx ON river_job (unique_key)
    WHERE unique_key IS NOT NULL AND unique_states IS NOT NULL
        AND (unique_states >> CASE state WHEN 'available' THEN 0 WHEN 'cancelled' THEN 1 WHEN 'completed' THEN 2
            WHEN 'discarded' THEN 3 WHEN 'pending' THEN 4 WHEN 'retryable' THEN 5 WHEN 'running' THEN 6 ELSE 7 END) & 1 = 1;
