package cli

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/nextrun/nextrun/cmd/nextrun/config"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/store"
)

func (p *program) checkCommand() *cobra.Command {
	var asJSON bool
	command := &cobra.Command{
		Use:   "check",
		Short: "Look for errors in configuration, database and tasks",
		Long: `Look for errors in the configuration, the database and the tasks. What must be
put right is an error and gives exit code 1; what may surprise is a warning.`,
		Args: arguments(),
		RunE: func(c *cobra.Command, _ []string) error {
			r := &checkReport{program: p}
			r.check(c.Context())
			return r.print(asJSON)
		},
	}
	jsonFlag(command, &asJSON)
	return command
}

// The levels of findings.
const (
	levelOK      = "ok"
	levelWarning = "warning"
	levelError   = "error"
)

// checkFinding is one line of the report.
type checkFinding struct {
	Level string `json:"level"`
	About string `json:"about"`
	Text  string `json:"text"`
}

// checkReport is what `nextrun check` finds.
type checkReport struct {
	*program
	findings []checkFinding
}

func (r *checkReport) add(level, about, format string, args ...any) {
	r.findings = append(r.findings, checkFinding{level, about, fmt.Sprintf(format, args...)})
}

func (r *checkReport) check(ctx context.Context) {
	c := r.checkConfiguration()
	var options store.Options
	if c != nil {
		options = c.Database
	}
	err := r.withAnyDatabase(ctx, options, func(db *store.DB) error {
		r.add(levelOK, "database", "%s", db.URL())
		if err := r.checkVersion(ctx, db); err != nil {
			return err
		}
		if c != nil {
			r.checkServices(c, db)
		}
		if err := db.Migrator().Check(ctx); err != nil {
			r.add(levelError, "schema", "%v", err)
			return nil
		}
		r.add(levelOK, "schema", "up to date")
		if err := r.checkDocspell(ctx, db); err != nil {
			return err
		}
		return r.checkTasks(ctx, db, c)
	})
	if err != nil {
		r.add(levelError, "database", "%v", err)
	}
}

func (r *checkReport) checkConfiguration() *config.Config {
	c, err := r.configuration()
	var configErr *config.Error
	switch {
	case errors.As(err, &configErr):
		for _, problem := range configErr.Problems {
			one := &config.Error{Path: configErr.Path, Problems: []config.Problem{problem}}
			r.add(levelError, "configuration", "%v", one)
		}
		return nil
	case err != nil:
		r.add(levelError, "configuration", "%v", err)
		return nil
	case c.Path == "":
		r.add(levelOK, "configuration", "there is none, so all is default and no handlers are known")
		return c
	}
	r.add(levelOK, "configuration", "%s: handlers: %d", c.Path, len(c.Handlers))
	for _, task := range slices.Sorted(maps.Keys(c.Handlers)) {
		if command := c.Handlers[task].Command; command != nil && !canRun(command) {
			r.add(levelWarning, "handler "+task, "there is no program %s here", command.Argv[0])
		}
	}
	return c
}

// canRun reports whether the program of a command is there.
func canRun(command *jobqueue.CommandConfig) bool {
	program := command.Argv[0]
	if strings.Contains(program, "/") && !filepath.IsAbs(program) {
		path, err := filepath.Abs(filepath.Join(command.Dir, program))
		if err != nil {
			return false
		}
		program = path
	}
	_, err := exec.LookPath(program)
	return err == nil
}

// checkServices makes the scheduler and the executor as the configuration
// says, without starting them.
func (r *checkReport) checkServices(c *config.Config, db *store.DB) {
	s := &services{program: r.program, config: c, name: "check", db: db, log: r.logger()}
	_, schedulerErr := s.scheduler()
	_, executorErr := s.executor()
	relayErr := s.withRelay(func(...service) error { return nil })
	if err := errors.Join(schedulerErr, executorErr, relayErr); err != nil {
		place := c.Path + ": "
		r.add(levelError, "configuration", "%s%s", place, strings.TrimPrefix(err.Error(), place))
	}
}

func (r *checkReport) print(asJSON bool) error {
	t := newTable("LEVEL", "ABOUT", "FINDING")
	count := map[string]int{}
	for _, f := range r.findings {
		count[f.Level]++
		t.add(f.Level, f.About, f.Text)
	}
	if err := r.program.print(t, r.findings, asJSON); err != nil {
		return err
	}
	if count[levelError] > 0 {
		return fmt.Errorf("errors: %d, warnings: %d", count[levelError], count[levelWarning])
	}
	return nil
}
