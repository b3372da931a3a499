package script

import (
	"regexp"
	"strings"

	"github.com/nextrun/nextrun/migrations/internal/tables"
)

// The tables of jobs are a part that a database may do without: those who feed
// another queue need none of them, and may have a table job of their own. Which shape
// a database has is recorded in nextrun_found. The SQL files do not know of this: a
// file is taken apart into statements, and those of the part are left out, or, to add
// the part later, are the only ones that run.
//
// Functions of triggers are in both shapes, since they name no table of the part.

// WithoutJobs is the name in nextrun_found of a database without the tables of jobs.
const WithoutJobs = "without job"

var anyJobTable = `(` + strings.Join(tables.Jobs, "|") + `)\b`

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
                    CAST(NULL AS timestamp) AS finished, CAST(NULL AS text) AS result) AS job ON job.jid = last.jid`
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

// JobsOnly are the statements of the part that a file runs on the way up.
func JobsOnly(text string) (list []string) {
	up, _, _ := strings.Cut(text, downMark)
	for _, s := range statements(up) {
		if s.isOfJobs() {
			list = append(list, s.code())
		}
	}
	return list
}
