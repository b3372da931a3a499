package main

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"time"
)

// runPlain claims and completes batches of the pool's size in nextrun's own
// table, one transaction each: the least that a consumer can do.
func runPlain(ctx context.Context, url string, n int) (time.Duration, error) {
	filled, err := openFilled(ctx, url, n)
	if err != nil {
		return 0, err
	}
	defer filled.Close() //nolint:errcheck // thrown away
	db, err := sql.Open("postgres", url)
	if err != nil {
		return 0, err
	}
	defer db.Close() //nolint:errcheck // thrown away
	began := time.Now()
	for done := 0; done < n; {
		jids, err := claimPlain(ctx, db)
		if err != nil {
			return 0, err
		}
		if len(jids) == 0 {
			return 0, fmt.Errorf("only %d of %d jobs were there", done, n)
		}
		_, err = db.ExecContext(ctx, `UPDATE job SET state = 'success', heartbeat = NULL, progress = 100,
			finished = clock_timestamp() AT TIME ZONE 'UTC' WHERE jid = ANY($1::text[]) AND state = 'running' AND worker = 'plain'`, "{"+strings.Join(jids, ",")+"}")
		if err != nil {
			return 0, err
		}
		done += len(jids)
	}
	return time.Since(began), nil
}

func claimPlain(ctx context.Context, db *sql.DB) ([]string, error) {
	rows, err := db.QueryContext(ctx, `UPDATE job SET state = 'running', worker = 'plain',
			started = clock_timestamp() AT TIME ZONE 'UTC', heartbeat = clock_timestamp() AT TIME ZONE 'UTC'
		WHERE jid = ANY(ARRAY(SELECT jid FROM job WHERE state = 'waiting'
			ORDER BY group_ COLLATE "C", task COLLATE "C", priority, submitted, jid LIMIT $1 FOR UPDATE SKIP LOCKED))
		RETURNING jid, args`, pool)
	if err != nil {
		return nil, err
	}
	defer rows.Close() //nolint:errcheck // reading; Err tells
	var jids []string
	for rows.Next() {
		var jid, args string
		if err := rows.Scan(&jid, &args); err != nil {
			return nil, err
		}
		jids = append(jids, jid)
	}
	return jids, rows.Err()
}
