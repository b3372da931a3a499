// Package permissions writes the SQL that gives roles of PostgreSQL what each of
// nextrun's programs and people needs, and no more. It connects to no database: print
// the text, or execute it as the owner of the tables. On SQLite the rights are those
// of the file.
//
// The text is made of the .sql files beside this one. Names are quoted, or refused.
package permissions

import (
	_ "embed"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"text/template"
	"unicode"
	"unicode/utf8"
)

// The scripts, as templates.
var (
	//go:embed owner.sql
	ownerScript string
	//go:embed roles.sql
	rolesScript string
	//go:embed tenant.sql
	tenantScript string
)

// The defaults of [Names].
const (
	DefaultSchema = "public"
	DefaultPrefix = "nextrun_"
)

// Roles are the roles that [Names.Roles] makes, without prefix. [Names.Owner] makes
// another one, owner.
func Roles() []string {
	return []string{"viewer", "dashboard", "operator", "editor", "scheduler", "executor", "housekeeper", "relay"}
}

// Names are what the roles and the schema are called. The zero value has the defaults.
type Names struct {
	// Schema has the tables; empty means [DefaultSchema].
	Schema string
	// Prefix is what the names of roles begin with; empty means [DefaultPrefix]. Roles
	// belong to the whole server: two databases on it share those of one name.
	Prefix string
	// Queues are those of others that [Names.Roles] lets roles feed.
	Queues []Queue
}

// Queue is a queue that is not nextrun's own.
type Queue struct {
	Name   string
	Grants func(roles string) []string // statements for roles, separated by commas; none: they are not known
}

// Tenant is somebody who manages some of the tasks in a table that others use, too.
type Tenant struct {
	// Name is the tenant's role without prefix, such as acme.
	Name string
	// IDs is what the ids of its tasks begin with; empty means the name and a hyphen.
	IDs string
	// Group is the group_ of its tasks; empty means the name.
	Group string
	// Handlers are what its tasks may run, at least one.
	Handlers []string
}

// Owner returns the script that makes the role that owns the tables.
func (n Names) Owner() (string, error) { return n.write(ownerScript, nil) }

// Roles returns the script that makes the other roles and sets their rights.
func (n Names) Roles() (string, error) { return n.write(rolesScript, n.Queues) }

// Tenant returns the script for a tenant. It turns on row security.
func (n Names) Tenant(t Tenant) (string, error) {
	if slices.Contains(append(Roles(), "owner"), t.Name) {
		return "", fmt.Errorf("tenant %q: this is the name of a role of nextrun; choose another one", t.Name)
	}
	if err := checkName("tenant", t.Name); err != nil {
		return "", err
	}
	if len(t.Handlers) == 0 {
		return "", fmt.Errorf("tenant %s: name at least one handler that its tasks may run", t.Name)
	}
	if t.IDs == "" {
		t.IDs = t.Name + "-"
	}
	if t.Group == "" {
		t.Group = t.Name
	}
	for _, value := range append([]string{t.IDs, t.Group}, t.Handlers...) {
		if err := checkValue(value); err != nil {
			return "", fmt.Errorf("tenant %s: %w", t.Name, err)
		}
	}
	return n.write(tenantScript, t)
}

func (n Names) write(script string, values any) (string, error) {
	if n.Schema == "" {
		n.Schema = DefaultSchema
	}
	if n.Prefix == "" {
		n.Prefix = DefaultPrefix
	}
	if err := checkName("prefix", n.Prefix); err != nil {
		return "", err
	}
	if !schemaName.MatchString(n.Schema) {
		return "", fmt.Errorf("schema %q: use lower-case letters, digits and _, 63 characters at most, beginning with a letter", n.Schema)
	}
	var text strings.Builder
	err := template.Must(template.New("").Funcs(n.functions()).Parse(script)).Execute(&text, values)
	return text.String(), err
}

// createRole leaves a role that is there as it is. Another session may make it at the
// same time.
const createRole = `DO $$ BEGIN
  IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = '%[1]s') THEN CREATE ROLE %[1]s NOLOGIN; END IF;
EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; END $$;`

func (n Names) functions() template.FuncMap {
	role := func(name string) string { return n.Prefix + name }
	return template.FuncMap{
		"schema":     func() string { return `"` + n.Schema + `"` }, // which may be a word of SQL
		"roles":      Roles,
		"role":       role,
		"create":     func(name string) string { return fmt.Sprintf(createRole, role(name)) },
		"every":      func() string { return lines(strings.Split(n.Prefix+strings.Join(Roles(), " "+n.Prefix), " ")) },
		"tables":     func() string { return lines(slices.Concat(readable, checked)) },
		"readable":   func() string { return lines(readable) },
		"columns":    func() string { return lines(append([]string{"id"}, changeable...)) },
		"changeable": func() string { return lines(changeable) },
		"secured": func() []string {
			return []string{"periodic_task", "periodic_override", "periodic_tick", "job", "joblog"}
		},
		"literal": literal,
		"literals": func(values []string) string {
			quoted := make([]string, len(values))
			for i, v := range values {
				quoted[i] = literal(v)
			}
			return strings.Join(quoted, ", ")
		},
	}
}

var (
	// readable are the tables and views that a viewer reads, in the order of the reference.
	readable = []string{
		"periodic_task", "periodic_tick", "periodic_ready", "periodic_open", "periodic_awaited", "periodic_origin", "periodic_action",
		"periodic_calendar", "periodic_calendar_edition", "periodic_override",
		"periodic_upcoming", "periodic_overdue", "periodic_stale", "periodic_health", "periodic_finish",
		"job", "joblog", "jobgroupuse", "job_pause", "job_limit", "scheduler_lock", "worker_session", "worker_service",
		"event_store", "event_aggregate", "event_topic", "event_offset", "outbox_message", "outbox_topic", "outbox_lag",
	}
	checked = []string{"nextrun_migration", "nextrun_found"}
	// changeable are the columns of periodic_task that a tenant may change.
	changeable = []string{
		"enabled", "task", "group_", "args", "subject", "priority", "timer", "summary",
		"starts", "ends", "exclude_calendars", "run_calendars", "on_excluded", "overlap", "catchup", "grace", "deadline", "jitter", "spread",
		"catchup_limit", "catchup_delay", "max_ticks", "tick_count", "pause_after", "failures", "finish_by",
		"retry_limit", "retry_delay", "timeout", "concurrency", "paused", "paused_until", "paused_by", "paused_reason",
	}
)

// lines joins names with commas, and begins a new line before one is too long.
func lines(names []string) string {
	var text strings.Builder
	width := 0
	for i, name := range names {
		switch {
		case i == 0:
		case width+len(name) > 80:
			text.WriteString(",\n  ")
			width = 0
		default:
			text.WriteString(", ")
		}
		text.WriteString(name)
		width += len(name) + 2
	}
	return text.String()
}

var (
	plainName  = regexp.MustCompile(`^[a-z][a-z0-9_]{0,29}$`)
	schemaName = regexp.MustCompile(`^[a-z][a-z0-9_]{0,62}$`) // as nextrun migrate up takes it
)

func checkName(what, name string) error {
	if !plainName.MatchString(name) {
		return fmt.Errorf("%s %q: use a lower-case letter, then up to 29 lower-case letters, digits or underscores", what, name)
	}
	return nil
}

// checkValue refuses what no literal or identifier needs, and what a terminal or a
// later reader of the script could take for something else.
func checkValue(value string) error {
	if value == "" || len(value) > 254 || strings.ContainsFunc(value, func(r rune) bool { return r == '\\' || r == utf8.RuneError || !unicode.IsPrint(r) }) {
		return fmt.Errorf("%q: use 1 to 254 characters without backslashes and control characters", value)
	}
	return nil
}

func literal(value string) string { return "'" + strings.ReplaceAll(value, "'", "''") + "'" }
