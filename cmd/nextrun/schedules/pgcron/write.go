package pgcron

import (
	"encoding/json"
	"fmt"
	"path"
	"strings"
	"time"

	"github.com/nextrun/nextrun/cmd/nextrun/schedules"
	"github.com/nextrun/nextrun/cmd/nextrun/schedules/convert"
	"github.com/nextrun/nextrun/periodic"
)

// Write implements [schedules.Kind]: SQL that calls cron.schedule. o.Zone is
// cron.timezone.
func (Kind) Write(tasks []schedules.Export, o schedules.Options) ([]schedules.File, []schedules.Item) {
	var b strings.Builder
	var items []schedules.Item
	b.WriteString("-- written by nextrun export pgcron\n")
	for i := range tasks {
		item := schedules.NewExport(&tasks[i])
		if text := call(&tasks[i], o.Zone, &item); text != "" {
			b.WriteString(text)
		}
		items = append(items, item)
	}
	return []schedules.File{{Name: "pgcron.sql", Text: b.String()}}, items
}

func call(e *schedules.Export, zone string, item *schedules.Item) string {
	t := &e.Task
	p, why := sqlOf(e)
	if why != "" {
		item.Refuse(why)
		return ""
	}
	schedule, err := scheduleOf(t.Timer, zone)
	if err != nil {
		item.Refuse(err.Error())
		return ""
	}
	if strings.HasSuffix(schedule, "seconds") {
		item.Change("the seconds count from the end of the last run")
	}
	arguments := []string{text(t.ID), text(schedule), text(p.SQL)}
	function := "cron.schedule"
	if p.Database != "" {
		function = "cron.schedule_in_database"
		arguments = append(arguments, text(p.Database), "NULL", fmt.Sprint(t.Enabled))
		if p.Username != "" {
			arguments[4] = text(p.Username)
		}
	} else if p.Username != "" {
		item.Change("the job belongs to whoever runs the SQL, not to " + p.Username)
	}
	statement := function + "(" + strings.Join(arguments, ", ") + ")"
	if !t.Enabled && p.Database == "" {
		statement = "cron.alter_job(" + statement + ", active := false)"
	}
	if t.Overlap != periodic.OverlapQueue {
		item.Change(fmt.Sprintf("overlap is %s: pg_cron lets a tick wait for the end of the job before", t.Overlap))
	}
	if t.Catchup != periodic.CatchupNone {
		item.Change("pg_cron does not catch up on what fell due while the server was down")
	}
	item.Lose()
	return "SELECT " + statement + ";\n"
}

// sqlOf is the SQL of a handler that calls psql, or of args.
func sqlOf(e *schedules.Export) (p payload, why string) {
	if e.Handler != nil && e.Handler.SQL != nil {
		if params := e.Handler.SQL.Params(); len(params) > 0 {
			return p, fmt.Sprintf("its SQL has the parameter :%s, which pg_cron does not know", params[0])
		}
		return payload{SQL: e.Handler.SQL.SQL, Username: e.Handler.SQL.Role}, ""
	}
	if e.Handler == nil || e.Handler.Command == nil || path.Base(e.Handler.Command.Argv[0]) != "psql" {
		if err := json.Unmarshal([]byte(e.Task.Args), &p); err == nil && p.SQL != "" {
			return p, ""
		}
		if _, why := e.Program(); why != "" {
			return p, why
		}
		return p, fmt.Sprintf("pg_cron runs SQL only, and the handler %q runs a program", e.Task.Task)
	}
	var commands []string
	argv := e.Handler.Command.Argv[1:]
	for i := 0; i < len(argv); i++ {
		name, value, joined := strings.Cut(argv[i], "=")
		if !joined && i+1 < len(argv) && len(name) == 2 {
			value = argv[i+1]
		}
		switch name {
		case "--command", "-c":
			commands = append(commands, value)
		case "--dbname", "-d":
			p.Database = value
		case "--username", "-U":
			p.Username = value
		case "--file", "-f", "--host", "-h":
			return p, fmt.Sprintf("psql has %s, which pg_cron does not know", name)
		}
	}
	if len(commands) != 1 {
		return p, fmt.Sprintf("psql has %d commands; pg_cron runs one", len(commands))
	}
	p.SQL = commands[0]
	return p, ""
}

func scheduleOf(timer, zone string) (string, error) {
	if d, ok := convert.Every(timer); ok && d < time.Minute && d >= time.Second {
		return fmt.Sprintf("%d seconds", d/time.Second), nil
	}
	if zone == "" || zone == "GMT" {
		zone = "UTC"
	}
	read := func(expression, _ string) (string, error) { return Timer(expression, zone) }
	expression, own, err := convert.Cron(timer, "$", read)
	if err != nil && own == "" {
		if of, zoneErr := convert.Zone(timer); zoneErr == nil && of != zone {
			return "", fmt.Errorf("it elapses in the zone %s, and pg_cron in %s, the cron.timezone of the server (--zone)", of, zone)
		}
	}
	return expression, err
}

// text is a literal of SQL.
func text(value string) string {
	if !strings.ContainsAny(value, "'\n\\") {
		return "'" + value + "'"
	}
	tag := "$nextrun$"
	for n := 2; strings.Contains(value, tag); n++ {
		tag = fmt.Sprintf("$nextrun%d$", n)
	}
	return tag + value + tag
}
