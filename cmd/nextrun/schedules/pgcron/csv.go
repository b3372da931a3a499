package pgcron

import (
	"cmp"
	"encoding/csv"
	"errors"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/nextrun/nextrun/cmd/nextrun/schedules"
)

// columns are those of cron.job in the order of the table.
var columns = []string{"jobid", "schedule", "command", "nodename", "nodeport", "database", "username", "active", "jobname"}

// isSQL recognises a dump of the table, and a script that schedules jobs.
var isSQL = regexp.MustCompile(`(?i)\bcron\s*\.\s*(?:un)?schedule(?:_in_database)?\s*\(|\b(?:COPY|INSERT\s+INTO)\s+"?cron"?\s*\.\s*"?job"?\b`)

// file reads a file of CSV.
func (r *reader) file(text string) {
	if isSQL.MatchString(text) {
		r.refuse(0, "SQL", `it is SQL; run it, and import what it made: from the URL of the database, or from CSV: psql -c '\copy cron.job TO jobs.csv CSV HEADER'`)
		return
	}
	r.csv(text)
}

func names(list string) (names []string) {
	for name := range strings.SplitSeq(list, ",") {
		names = append(names, strings.ToLower(strings.Trim(strings.TrimSpace(name), `"`)))
	}
	return names
}

// csv reads rows with a line of names, or in the order of the table.
func (r *reader) csv(text string) {
	c := csv.NewReader(strings.NewReader(text))
	c.FieldsPerRecord = -1
	head := columns
	for first := true; ; first = false {
		cells, err := c.Read()
		if errors.Is(err, io.EOF) {
			return
		}
		var bad *csv.ParseError
		if errors.As(err, &bad) {
			r.refuse(bad.StartLine, "CSV", bad.Err.Error())
			return // a quote without its partner: nothing after it is sure
		}
		if err != nil {
			r.refuse(0, "CSV", err.Error())
			return
		}
		if len(r.items) == schedules.MaxItems {
			r.items = append(r.items, schedules.TooMany(r.path, 0))
			return
		}
		line, _ := c.FieldPos(0)
		if own := names(strings.Join(cells, ",")); first && slices.Contains(own, "schedule") && slices.Contains(own, "command") {
			head = own
			continue
		}
		r.row(line, head, cells)
	}
}

// row reads a row of cells with names.
func (r *reader) row(line int, names, cells []string) {
	if len(cells) > len(names) || len(cells) < 3 {
		r.refuse(line, "row", "it does not have the columns of cron.job: "+strings.Join(columns, ", "))
		return
	}
	j := Job{Line: line}
	var active, ignored string
	fields := map[string]*string{
		"jobid": &j.ID, "schedule": &j.Schedule, "command": &j.Command, "nodename": &j.NodeName, "nodeport": &j.NodePort,
		"database": &j.Database, "username": &j.Username, "jobname": &j.Name, "active": &active,
	}
	for i, cell := range cells {
		*cmp.Or(fields[names[i]], &ignored) = cell
	}
	j.Active = active == "" || strings.HasPrefix(strings.ToLower(active), "t") || active == "1"
	r.job(&j)
}
