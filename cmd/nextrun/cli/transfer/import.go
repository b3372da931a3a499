package transfer

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/nextrun/nextrun/cmd/nextrun/cli/ui"
	"github.com/nextrun/nextrun/cmd/nextrun/schedules"
	"github.com/nextrun/nextrun/cmd/nextrun/schedules/pgcron"
	"github.com/nextrun/nextrun/periodic"
)

// importing is what an import is to do.
type importing struct {
	env     *ui.Env
	kind    schedules.Kind
	options schedules.Options
	target  schedules.Target

	zone     string // flag
	sink     string
	handlers string // file for the handlers; -: standard output
	prune    ui.Choice
	dryRun   bool
	strict   bool
	asJSON   bool
	psql     bool
}

// ImportCommand returns `nextrun import` with a command for each kind.
func ImportCommand(env *ui.Env) *cobra.Command {
	var members []*cobra.Command
	for _, kind := range kinds() {
		members = append(members, importCommand(env, kind))
	}
	return ui.Group(&cobra.Command{
		Use:   "import",
		Short: "Take over schedules of cron, systemd, Kubernetes or pg_cron as tasks",
	}, members...)
}

var importTexts = map[string]struct{ use, short, about, example string }{
	"crontab": {
		"FILE...", "Take over crontabs",
		`A directory is one like /etc/cron.d, whose files name a user in front of each
command; so is /etc/crontab. For other files of that form use --system.`,
		`  crontab -l | nextrun import crontab - --dry-run
  nextrun import crontab /etc/crontab /etc/cron.d --handlers handlers.yaml`,
	},
	"timer": {
		"FILE|DIRECTORY...", "Take over timers of systemd",
		`Services, templates and drop-ins are looked up in the same directories.`,
		`  nextrun import timer /etc/systemd/system /usr/lib/systemd/system --dry-run
  nextrun import timer ~/.config/systemd/user/backup.timer --handlers handlers.yaml`,
	},
	"cronjob": {
		"FILE|DIRECTORY...", "Take over CronJobs of Kubernetes",
		`A file holds YAML documents or JSON: manifests, or what kubectl prints.`,
		`  kubectl get cronjobs --all-namespaces -o yaml | nextrun import cronjob - --dry-run
  nextrun import cronjob manifests/ --handlers handlers.yaml`,
	},
	"pgcron": {
		"FILE|URL...", "Take over the jobs of pg_cron",
		`A file is the table cron.job as CSV; a URL names the database that has the table.
SQL for the database that has nextrun's tables becomes handlers of type sql, which run in
one transaction with the end of their job. What cannot run in a transaction, may commit, or
is for another database is run by psql; the report says which.`,
		`  nextrun import pgcron postgres://postgres@db.example.org/postgres --dry-run
  psql -c '\copy cron.job TO STDOUT CSV HEADER' | nextrun import pgcron -`,
	},
}

func importCommand(env *ui.Env, kind schedules.Kind) *cobra.Command {
	i := &importing{env: env, kind: kind, prune: ui.Choice{Allowed: []string{string(periodic.PruneDisable), string(periodic.PruneDelete)}}}
	texts := importTexts[kind.Name()]
	command := &cobra.Command{
		Use:   kind.Name() + " " + texts.use,
		Short: texts.short,
		Long: texts.short + ` as tasks; - is standard input. ` + texts.about + `

The report says of each line whether it is taken, changed and how, or refused and
why, then what changes in the table. With --dry-run nothing is written. Import again
to update the tasks. Rows that come from elsewhere are never touched: if an id is
taken, the task gets a longer one, or --prefix gives another.

Commands go into the configuration file rather than the table: --handlers writes
them. With --handler or --sink, the args of the jobs hold the command instead.

With --dry-run, the exit code is 0 if the table has all tasks already, and 3 if there
are changes.`,
		Example: texts.example,
		Args:    ui.SeveralArguments("FILE"),
		PreRunE: func(*cobra.Command, []string) error { return i.check() },
		RunE:    func(c *cobra.Command, args []string) error { return i.run(c.Context(), args) },
	}
	flags := command.Flags()
	flags.BoolVar(&i.dryRun, "dry-run", false, "show the difference and change nothing; exit with 3 if there is one")
	flags.StringVar(&i.handlers, "handlers", "", "write the section handlers of the configuration to this `file`; - is standard output")
	flags.Var(&i.prune, "prune", "what to do with tasks that the files named here no longer have (default nothing)")
	flags.BoolVar(&i.strict, "strict", false, "exit with 3 if a line is refused")
	ui.JSONFlag(command, &i.asJSON)
	zone := "time `zone` of schedules that name none (default the machine's)"
	switch i.kind.Name() {
	case "cronjob":
		zone = "time `zone` of schedules that name none (default UTC)"
	case "pgcron":
		flags.BoolVar(&i.psql, "psql", false, "run all SQL by psql, not that for nextrun's database by nextrun itself")
		zone = "cron.timezone of the server, a time `zone` (default that of the server, or GMT)"
	case "crontab":
		flags.BoolVar(&i.options.System, "system", false, "a user name precedes each command, as in /etc/crontab")
	}
	flags.StringVar(&i.zone, "zone", "", zone)
	flags.StringVar(&i.target.Prefix, "prefix", "", "`name` that begins the ids of all tasks: NAME-backup")
	flags.StringVar(&i.sink, "sink", string(periodic.SinkJob), "`queue` of the jobs")
	flags.StringVar(&i.target.Handler, "handler", "", "`name` of the handler of all tasks; their args hold the commands")
	return command
}

// maxPrefix is the greatest length of --prefix; with a name it fits into an id.
const maxPrefix = 50

var oddPrefix = regexp.MustCompile(`[^A-Za-z0-9._-]`)

// check reads the flags that several values of the import follow from.
func (i *importing) check() error {
	i.options.Stdin, i.options.Zone = i.env.Stdin, zoneOf(i.env, i.kind, i.zone)
	if _, err := time.LoadLocation(i.options.Zone); err != nil || i.options.Zone == "Local" {
		return ui.Usagef("the time zone %q of the schedules is not known; name it with --zone, such as Europe/Berlin", i.options.Zone)
	}
	if prefix := i.target.Prefix; oddPrefix.MatchString(prefix) || len(prefix) > maxPrefix {
		return ui.Usagef("--prefix is %q; use up to %d letters, digits, . _ and -", prefix, maxPrefix)
	}
	i.target.Sink = periodic.Sink(i.sink)
	if !i.target.Sink.Valid() {
		return ui.Usagef("--sink is %q; use job or the name of a queue: lower-case letters, digits, - and _, a letter first", i.sink)
	}
	if i.asJSON && i.handlers == "-" {
		return ui.Usagef("--json has the handlers already; write them to a file with --handlers FILE")
	}
	if i.kind.Name() == "pgcron" && !i.psql {
		address, err := i.env.DatabaseURL()
		if err != nil {
			return err
		}
		i.options.Database = pgcron.DatabaseOf(address)
	}
	host, err := os.Hostname()
	if err != nil {
		return err
	}
	i.options.Host, i.target.Kind, i.target.Kinds = host, i.kind.Name(), kindNames()
	return nil
}

// localZone is the name of the machine's time zone: TZ, or where /etc/localtime
// points to.
func localZone(env *ui.Env) string {
	if zone := strings.TrimPrefix(env.Getenv("TZ"), ":"); zone != "" {
		return zone
	}
	target, err := filepath.EvalSymlinks("/etc/localtime")
	if _, zone, found := strings.Cut(target, "/zoneinfo/"); err == nil && found {
		return strings.TrimPrefix(zone, "Etc/")
	}
	return "Local"
}
