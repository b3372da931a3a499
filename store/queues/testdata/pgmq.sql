-- PGMQ 1.5 as far as a submitter can tell: the names, columns, arguments and results that its manual describes.
CREATE SCHEMA pgmq;
CREATE TABLE pgmq.meta (
    queue_name varchar UNIQUE NOT NULL,
    is_partitioned boolean NOT NULL,
    is_unlogged boolean NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now()
);

CREATE FUNCTION pgmq.create(queue_name text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('CREATE TABLE pgmq.%I (msg_id bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY, read_ct int NOT NULL DEFAULT 0,
        enqueued_at timestamptz NOT NULL DEFAULT now(), vt timestamptz NOT NULL, message jsonb, headers jsonb)', 'q_' || lower(queue_name));
    EXECUTE format('CREATE TABLE pgmq.%I (msg_id bigint PRIMARY KEY, read_ct int NOT NULL DEFAULT 0, enqueued_at timestamptz NOT NULL
        DEFAULT now(), archived_at timestamptz NOT NULL DEFAULT now(), vt timestamptz NOT NULL, message jsonb, headers jsonb)',
        'a_' || lower(queue_name));
    INSERT INTO pgmq.meta VALUES (queue_name, false, false);
END $$;

CREATE FUNCTION pgmq.send_batch(queue_name text, msgs jsonb[], headers jsonb[]) RETURNS SETOF bigint LANGUAGE plpgsql AS $$
BEGIN
    RETURN QUERY EXECUTE format('INSERT INTO pgmq.%I (vt, message, headers) SELECT clock_timestamp(), m, h
        FROM unnest($1, $2) AS u (m, h) RETURNING msg_id', 'q_' || lower(queue_name)) USING msgs, headers;
END $$;

CREATE FUNCTION pgmq.read(queue_name text, vt integer, qty integer) RETURNS SETOF bigint LANGUAGE plpgsql AS $$
BEGIN
    RETURN QUERY EXECUTE format('UPDATE pgmq.%1$I SET vt = clock_timestamp() + $1 * interval ''1 s'', read_ct = read_ct + 1
        WHERE msg_id IN (SELECT msg_id FROM pgmq.%1$I WHERE vt <= clock_timestamp() ORDER BY msg_id LIMIT $2 FOR UPDATE SKIP LOCKED)
        RETURNING msg_id', 'q_' || lower(queue_name)) USING vt, qty;
END $$;

CREATE FUNCTION pgmq.archive(queue_name text, msg_ids bigint[]) RETURNS SETOF bigint LANGUAGE plpgsql AS $$
BEGIN
    RETURN QUERY EXECUTE format('WITH gone AS (DELETE FROM pgmq.%I WHERE msg_id = ANY ($1) RETURNING *)
        INSERT INTO pgmq.%I (msg_id, read_ct, enqueued_at, vt, message, headers)
        SELECT msg_id, read_ct, enqueued_at, vt, message, headers FROM gone RETURNING msg_id',
        'q_' || lower(queue_name), 'a_' || lower(queue_name)) USING msg_ids;
END $$;

CREATE FUNCTION pgmq.delete(queue_name text, msg_ids bigint[]) RETURNS SETOF bigint LANGUAGE plpgsql AS $$
BEGIN
    RETURN QUERY EXECUTE format('DELETE FROM pgmq.%I WHERE msg_id = ANY ($1) RETURNING msg_id', 'q_' || lower(queue_name)) USING msg_ids;
END $$;
