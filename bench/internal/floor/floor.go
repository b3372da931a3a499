package floor

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/nextrun/nextrun/internal/sqldb"
)

// ErrNotFresh is the error of [Plain.Fresh] for a database that somebody uses.
var ErrNotFresh = errors.New("the tables hold rows of somebody; measurements need tables of their own")

// Fresh returns an error unless the tables are empty, and no other schema can take their
// place. Nothing of this package must run before.
func (p Plain) Fresh(ctx context.Context) error {
	var rows int
	if err := p.row(ctx, &rows, `SELECT (SELECT count(*) FROM (SELECT 1 FROM job LIMIT 1) AS j) +
		(SELECT count(*) FROM (SELECT 1 FROM periodic_tick LIMIT 1) AS k) +
		(SELECT count(*) FROM (SELECT 1 FROM periodic_task LIMIT 1) AS t)`); err != nil {
		return err
	}
	if rows > 0 {
		return ErrNotFresh
	}
	if p.sqlite {
		return nil
	}
	var path string
	if err := p.row(ctx, &path, "SELECT current_setting('search_path')"); err != nil {
		return err
	}
	if strings.Contains(path, ",") && strings.Contains(path, namePrefix) {
		return fmt.Errorf("the search_path %s has other schemas; use a URL without search_path", path)
	}
	return nil
}

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

// Insert adds the i-th job and commits: the least that anything can do.
func (p Plain) Insert(ctx context.Context, i int) error {
	return p.exec(ctx, `INSERT INTO job (jid, task, group_, args, subject, submitted, submitter, priority, state, retries, progress)
		VALUES ('floor-`+strconv.Itoa(i)+`', 'floor', 'bench', '{}', 'floor', '2026-01-01 00:00:00.000000', 'bench', 0, 'waiting', 0, 0)`)
}

// Setting is a setting of the database that measurements depend on.
type Setting struct{ Name, Value string }

// Settings are those that measurements depend on. On SQLite, synchronous is that of these connections, which are opened as those
// of package store.
func (p Plain) Settings(ctx context.Context) (list []Setting, err error) {
	query := `SELECT 'journal_mode' AS name, journal_mode AS value FROM pragma_journal_mode UNION ALL SELECT 'synchronous',
		CASE synchronous WHEN 0 THEN 'off' WHEN 1 THEN 'normal' WHEN 2 THEN 'full' ELSE 'extra' END FROM pragma_synchronous`
	if !p.sqlite {
		query = `SELECT name, current_setting(name) AS value FROM pg_settings WHERE name IN
			('fsync', 'synchronous_commit', 'full_page_writes', 'track_commit_timestamp', 'shared_buffers', 'max_wal_size') ORDER BY name`
	}
	err = p.rows(ctx, &list, query)
	return list, err
}

// quote is a text as a literal of SQL.
func quote(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }
