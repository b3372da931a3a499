package migrations

import (
	"slices"
	"strings"
)

// kind is the class of a column's type, as far as nextrun depends on it.
type kind string

const (
	text      kind = "text"
	integer   kind = "integer"
	boolean   kind = "boolean"
	timestamp kind = "timestamp without time zone"
)

// column is what nextrun expects of a column of a table that it finds.
type column struct {
	Name     string
	kind     kind
	optional bool   // may be absent: nextrun adds it
	null     bool   // may be NULL
	Default  string // set where a column has none (PostgreSQL)
}

// ofJobs are columns of jobs, and of the tasks from which jobs get them.
var ofJobs = []column{
	{Name: "task", kind: text},
	{Name: "group_", kind: text, Default: "'default'"},
	{Name: "args", kind: text, Default: "'{}'"},
	{Name: "subject", kind: text, Default: "''"},
	{Name: "submitter", kind: text, Default: "'nextrun'"},
	{Name: "priority", kind: integer, Default: "0"},
}

// expected are the tables of nextrun's schema that may be there before it, with
// the columns that it expects in them.
var expected = map[string][]column{
	"job": slices.Concat([]column{{Name: "jid", kind: text, Default: "gen_random_uuid()::text"}}, ofJobs, []column{
		{Name: "submitted", kind: timestamp, Default: "(clock_timestamp() AT TIME ZONE 'UTC')"},
		{Name: "state", kind: text, Default: "'waiting'"},
		{Name: "retries", kind: integer, Default: "0"},
		{Name: "progress", kind: integer, Default: "0"},
		{Name: "tracker", kind: text, null: true},
		{Name: "worker", kind: text, null: true},
		{Name: "started", kind: timestamp, null: true},
		{Name: "startedmillis", kind: integer, null: true},
		{Name: "finished", kind: timestamp, null: true},
	}),
	"joblog": {
		{Name: "id", kind: text},
		{Name: "jid", kind: text},
		{Name: "level", kind: text},
		{Name: "created", kind: timestamp},
		{Name: "message", kind: text},
		{Name: "counter", kind: integer, optional: true, null: true},
	},
	"jobgroupuse": {
		{Name: "groupid", kind: text},
		{Name: "workerid", kind: text},
	},
	"periodic_task": slices.Concat([]column{{Name: "id", kind: text}}, ofJobs, []column{
		{Name: "enabled", kind: boolean, Default: "true"},
		{Name: "worker", kind: text, null: true},
		{Name: "marked", kind: timestamp, null: true},
		{Name: "timer", kind: text},
		{Name: "nextrun", kind: timestamp, Default: "'1970-01-01 00:00:00'"},
		{Name: "created", kind: timestamp, Default: "(clock_timestamp() AT TIME ZONE 'UTC')"},
		{Name: "summary", kind: text, optional: true, null: true},
	}),
	"scheduler_lock": {
		{Name: "name", kind: text},
		{Name: "holder", kind: text},
		{Name: "hostname", kind: text},
		{Name: "pid", kind: integer},
		{Name: "token", kind: integer},
		{Name: "acquired", kind: timestamp},
		{Name: "heartbeat", kind: timestamp},
		{Name: "expires", kind: timestamp},
	},
}

// expectedColumn is what nextrun expects of a column, or nil of one that it does not know.
func expectedColumn(table, name string) *column {
	for i, c := range expected[table] {
		if c.Name == name {
			return &expected[table][i]
		}
	}
	return nil
}

// kindOf classes a type as PostgreSQL's information_schema or a SQLite
// declaration names it. Unknown types are returned as they are.
func kindOf(declared string) kind {
	name, _, _ := strings.Cut(strings.ToLower(strings.TrimSpace(declared)), "(")
	switch strings.TrimSpace(name) {
	case "character varying", "varchar", "text":
		return text
	case "integer", "int", "bigint", "int4", "int8":
		return integer
	case "boolean", "bool":
		return boolean
	case "timestamp without time zone", "timestamp", "datetime":
		return timestamp
	}
	return kind(declared)
}
