package floor

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/nextrun/nextrun/internal/sqldb"
)

// ours are the tasks that this package adds.
const ours = `id LIKE 'bench-%'`

// AddTasks adds n tasks bench-1, bench-2, ..., all due at a whole second and then once a day.
func (p Plain) AddTasks(ctx context.Context, n int, due time.Time) error {
	err := p.addTasks(ctx, 1, n, due.UTC().Format("15:04:05")+" UTC", "skip")
	if err != nil {
		return err
	}
	at := sqldb.Timestamp(due).String()
	if err := p.exec(ctx, "UPDATE periodic_task SET due = '"+at+"', nextrun = '"+at+"' WHERE "+ours); err != nil {
		return err
	}
	return p.Analyze(ctx)
}

// AddSteady adds the tasks bench-n for each n from first to last, whose jobs may overlap. The scheduler plans them.
func (p Plain) AddSteady(ctx context.Context, first, last int, timer string) error {
	return p.addTasks(ctx, first, last, timer, "allow")
}

func (p Plain) addTasks(ctx context.Context, first, last int, timer, overlap string) error {
	series := fmt.Sprintf("generate_series(%d, %d) AS s(n)", first, last)
	if p.sqlite {
		series = fmt.Sprintf("(WITH RECURSIVE s(n) AS (SELECT %d UNION ALL SELECT n + 1 FROM s WHERE n < %d) SELECT n FROM s)", first, last)
	}
	return p.exec(ctx, `INSERT INTO periodic_task (id, task, timer, args, overlap)
		SELECT 'bench-' || n, 'bench', `+quote(timer)+`, '{"path": "/srv/data", "keep": 7}', '`+overlap+`' FROM `+series)
}

// RemoveTasks removes the tasks that were added.
func (p Plain) RemoveTasks(ctx context.Context) error {
	return p.exec(ctx, "DELETE FROM periodic_task WHERE "+ours)
}

// Analyze does what autovacuum would do after so many changes.
func (p Plain) Analyze(ctx context.Context) error {
	if p.sqlite {
		return nil
	}
	return p.exec(ctx, "VACUUM ANALYZE periodic_task")
}

// Settings are those of PostgreSQL that measurements depend on, as name and value.
func (p Plain) Settings(ctx context.Context) (list []string, err error) {
	err = p.db.SelectContext(ctx, &list, `SELECT name || ' ' || current_setting(name) FROM pg_settings WHERE name IN
		('fsync', 'synchronous_commit', 'full_page_writes', 'track_commit_timestamp', 'shared_buffers', 'max_wal_size') ORDER BY name`)
	return list, err
}

// quote is a text as a literal of SQL.
func quote(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }
