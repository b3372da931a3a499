package pgcron

import (
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

var (
	copyLine = regexp.MustCompile(`(?i)^COPY\s+(?:"?cron"?\.)?"?job"?\s*\(([^)]*)\)\s+FROM\s+stdin\b`)
	callLine = regexp.MustCompile(`(?i)\bcron\s*\.\s*(?:un)?schedule(?:_in_database)?\s*\(`)
	// rowsOf begins the rows that pg_dump --inserts writes, with or without names.
	rowsOf = regexp.MustCompile(`(?i)\bINSERT\s+INTO\s+(?:"?cron"?\s*\.\s*)"?job"?\s*(?:\(([^()]*)\)\s*)?(?:OVERRIDING\s+\w+\s+VALUE\s+)?VALUES\s*\(`)
)

// file reads a file: what pg_dump writes, as COPY or as INSERT, statements that call cron.schedule, or CSV.
func (r *reader) file(text string) {
	lines := strings.Split(text, "\n")
	found := false
	for i := 0; i < len(lines); i++ {
		if m := copyLine.FindStringSubmatch(lines[i]); m != nil {
			found = true
			i = r.copied(lines, i+1, names(m[1]))
		}
	}
	switch {
	case found:
	case rowsOf.MatchString(text):
		r.inserted(text)
	case callLine.MatchString(text):
		r.statements(text)
	default:
		r.csv(text)
	}
}

func names(list string) (names []string) {
	for name := range strings.SplitSeq(list, ",") {
		names = append(names, strings.ToLower(strings.Trim(strings.TrimSpace(name), `"`)))
	}
	return names
}

// copied reads the rows of COPY up to its end, and returns the line of that.
func (r *reader) copied(lines []string, from int, names []string) int {
	for i := from; i < len(lines); i++ {
		if lines[i] == `\.` {
			return i
		}
		if lines[i] == "" && i == len(lines)-1 {
			break
		}
		if len(r.items) == schedules.MaxItems {
			break
		}
		cells := strings.Split(lines[i], "\t")
		for n := range cells {
			cells[n] = copyText(cells[n])
		}
		r.row(i+1, names, cells)
	}
	if len(r.items) == schedules.MaxItems {
		r.items = append(r.items, schedules.TooMany(r.path, 0))
		return len(lines)
	}
	r.refuse(len(lines), "COPY", `the file ends before the line \. of COPY: it is not whole`)
	return len(lines)
}

// copyText is a value of COPY's text format; NULL is empty.
func copyText(cell string) string {
	if cell == `\N` {
		return ""
	}
	if !strings.Contains(cell, `\`) {
		return cell
	}
	var b strings.Builder
	for i := 0; i < len(cell); i++ {
		if cell[i] != '\\' || i+1 == len(cell) {
			b.WriteByte(cell[i])
			continue
		}
		i++
		if at := strings.IndexByte("bfnrtv", cell[i]); at >= 0 {
			b.WriteByte("\b\f\n\r\t\v"[at])
		} else {
			b.WriteByte(cell[i])
		}
	}
	return b.String()
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
	j := Job{Line: line, Active: true}
	for i, cell := range cells {
		switch names[i] {
		case "jobid":
			j.ID = cell
		case "schedule":
			j.Schedule = cell
		case "command":
			j.Command = cell
		case "nodename":
			j.NodeName = cell
		case "nodeport":
			j.NodePort = cell
		case "database":
			j.Database = cell
		case "username":
			j.Username = cell
		case "jobname":
			j.Name = cell
		case "active":
			j.Active = cell == "" || strings.HasPrefix(strings.ToLower(cell), "t") || cell == "1"
		}
	}
	r.job(&j)
}
