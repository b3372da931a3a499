package migrations

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"regexp"
	"strings"
)

// The tables of jobs are a part that a database may do without: those who feed
// another queue need none of them, and may have a table job of their own. Which shape
// a database has is recorded in nextrun_found. The SQL files do not know of this: a
// file is taken apart into statements, and those of the part are left out, or, to add
// the part later, are the only ones that run.
//
// Functions of triggers are in both shapes, since they name no table of the part.

// WithoutJobs is the row of nextrun_found in a database without the tables of jobs.
const WithoutJobs = "without job"

// ErrHasJobs is returned by [Migrator.UpWithoutJobs] if the tables of jobs are there.
var ErrHasJobs = errors.New("the database has the tables of jobs already; they can only be left out when nextrun's tables " +
	"are created (nextrun migrate down removes them all)")

var jobTables = []string{"job", "joblog", "jobgroupuse", "job_pause", "job_limit"}

const anyJobTable = `(job|joblog|jobgroupuse|job_pause|job_limit)\b`

// ofJobs finds the statements of the part, without their comments.
var ofJobs = regexp.MustCompile(`^(` + strings.Join([]string{
	`(CREATE|ALTER|DROP) TABLE (IF (NOT )?EXISTS )?` + anyJobTable,
	`COMMENT ON (TABLE|COLUMN) ` + anyJobTable,
	`CREATE (UNIQUE )?INDEX \w+ ON ` + anyJobTable,
	`DROP INDEX (IF EXISTS )?nextrun_job(log)?_`,
	`(CREATE|DROP) TRIGGER (IF EXISTS )?nextrun_(jobs?|joblog|pause|limit)_`,
	`INSERT INTO periodic_task \([^)]*\)\s+VALUES \('nextrun-housekeeping'`, // no executor would run it
}, `|`) + `)`)

// What other statements say about jobs, and what they say without them.
var (
	joinedJob  = "LEFT JOIN job ON job.jid = last.jid"
	joinedNone = `LEFT JOIN (SELECT CAST(NULL AS varchar(254)) AS jid, CAST(NULL AS varchar(254)) AS state,
                    CAST(NULL AS timestamp) AS finished) AS job ON job.jid = last.jid`
	noPendingJob = regexp.MustCompile(`NOT EXISTS \(SELECT 1 FROM job WHERE tracker = NEW\.task_id AND state IN \([^)]*\)\)\s+AND `)
)

// statement is a part of a file: a statement with the comments before it, or a line
// that tells goose where the halves begin.
type statement string

var commentsBefore = regexp.MustCompile(`^(\s*(--.*)?\n)*`)

// isOfJobs reports whether a statement belongs to the part.
func (s statement) isOfJobs() bool { return ofJobs.MatchString(s.code()) }

// code is the statement without the comments around it.
func (s statement) code() string {
	text := commentsBefore.ReplaceAllString(string(s), "")
	return strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(text), "-- +goose StatementEnd"))
}

// statements takes a half of a file apart as goose does.
func statements(half string) (list []statement) {
	var s strings.Builder
	block := false
	for line := range strings.Lines(half) {
		s.WriteString(line)
		switch text := strings.TrimSpace(line); {
		case text == "-- +goose StatementBegin":
			block = true
			continue
		case text == "-- +goose StatementEnd":
			block = false
		case block || strings.HasPrefix(text, "--") || !strings.HasSuffix(text, ";"):
			continue
		}
		list = append(list, statement(s.String()))
		s.Reset()
	}
	return append(list, statement(s.String()))
}

const downMark = "-- +goose Down"

// leaveOutJobs is the text of a file without the part.
func leaveOutJobs(text string) string {
	halves := strings.Split(text, downMark)
	for i, half := range halves {
		var rest strings.Builder
		for _, s := range statements(half) {
			if !s.isOfJobs() {
				rest.WriteString(string(s))
			} else if mark := strings.Index(string(s), "-- +goose Up"); mark >= 0 {
				rest.WriteString("-- +goose Up\n")
			}
		}
		half = strings.ReplaceAll(rest.String(), joinedJob, joinedNone)
		halves[i] = noPendingJob.ReplaceAllString(half, "") + "\nSELECT 1;\n" // goose wants one
	}
	return strings.Join(halves, downMark+"\n")
}

// jobsOnly are the statements of the part that a file runs on the way up.
func jobsOnly(text string) (list []string) {
	up, _, _ := strings.Cut(text, downMark)
	for _, s := range statements(up) {
		if s.isOfJobs() {
			list = append(list, s.code())
		}
	}
	return list
}

// UpWithoutJobs is [Migrator.Up] for a database that is to have no tables of jobs:
// job, joblog and those whose names begin with job. A table of such a name that belongs to
// something else is left alone. The choice is recorded, and holds for every later Up
// until [Migrator.AddJobs]. If the tables are there it returns [ErrHasJobs].
func (m *Migrator) UpWithoutJobs(ctx context.Context) ([]Applied, error) {
	without := *m
	without.leaveOutJobs = true
	if version, err := m.Version(ctx); err != nil {
		return nil, err
	} else if version > 0 {
		if has, err := m.HasJobs(ctx); err != nil || has {
			return nil, errors.Join(err, orNil(has, ErrHasJobs))
		}
	}
	done, err := without.Up(ctx)
	if err != nil {
		return done, err
	}
	has, err := m.HasJobs(ctx) // another process may have been faster
	return done, errors.Join(err, orNil(has, ErrHasJobs))
}

func orNil(is bool, err error) error {
	if is {
		return err
	}
	return nil
}

// HasJobs reports whether the database has, or will have, the tables of jobs.
func (m *Migrator) HasJobs(ctx context.Context) (bool, error) {
	version, err := m.Version(ctx)
	if err != nil || version == 0 {
		return true, err
	}
	found, err := m.recorded(ctx)
	return !found[WithoutJobs], err
}

// AddJobs is [Migrator.Up], and adds the tables of jobs if [Migrator.UpWithoutJobs]
// has left them out. A table that exists is compared and extended, as by the first Up.
func (m *Migrator) AddJobs(ctx context.Context) ([]Applied, error) {
	done, err := m.Up(ctx)
	if err != nil {
		return done, err
	}
	if has, err := m.HasJobs(ctx); err != nil || has {
		return done, err
	}
	if err := m.compareTables(ctx, jobTables); err != nil {
		return done, err
	}
	if err := m.addJobs(ctx); err != nil {
		return done, fmt.Errorf("add the tables of jobs: %w", err)
	}
	restored, err := m.repair(ctx) // what looks different without them
	if err != nil {
		return done, fmt.Errorf("add the tables of jobs: %w", err)
	}
	for _, name := range jobTables {
		done = append(done, Applied{Name: "table " + name})
	}
	return append(done, restored...), nil
}

func (m *Migrator) addJobs(ctx context.Context) error {
	found := map[string]bool{}
	if err := m.foundTables(ctx, jobTables, found); err != nil {
		return err
	}
	all, err := m.recorded(ctx)
	if err != nil {
		return err
	}
	maps.Copy(all, found)
	delete(all, WithoutJobs)
	schema, err := m.schema(ctx)
	if err != nil {
		return err
	}
	version, err := m.Version(ctx)
	if err != nil {
		return err
	}
	files, err := m.render(state{version, all, schema})
	if err != nil {
		return err
	}
	tx, err := m.db.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	defer tx.Rollback() //nolint:errcheck // nothing to undo after a commit
	if err := m.addJobsIn(ctx, tx, files, found); err != nil {
		return err
	}
	return tx.Commit()
}

// addJobsIn runs the statements of the part, unless another process has done so.
func (m *Migrator) addJobsIn(ctx context.Context, tx *sql.Tx, files fs.FS, found map[string]bool) error {
	if m.dialect == Postgres { // others take turns
		if _, err := tx.ExecContext(ctx, "SELECT pg_advisory_xact_lock($1)", lockID); err != nil {
			return fmt.Errorf("lock the schema: %w", err)
		}
	}
	result, err := tx.ExecContext(ctx, "DELETE FROM nextrun_found WHERE name = '"+WithoutJobs+"'")
	if err != nil {
		return err
	}
	if n, err := result.RowsAffected(); err != nil || n == 0 {
		return err
	}
	known, err := m.known()
	if err != nil {
		return err
	}
	for _, a := range known {
		text, err := fs.ReadFile(files, a.Name)
		if err != nil {
			return fmt.Errorf("read %s: %w", a.Name, err)
		}
		for _, s := range jobsOnly(string(text)) {
			if _, err := tx.ExecContext(ctx, s); err != nil {
				return fmt.Errorf("%s: %w", a.Name, err)
			}
		}
	}
	for _, name := range sorted(found) {
		if _, err := tx.ExecContext(ctx, "INSERT INTO nextrun_found (name) VALUES ($1)", name); err != nil {
			return err
		}
	}
	return nil
}
