package cli

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/nextrun/nextrun/calendar"
	"github.com/nextrun/nextrun/ops/cli/ui"
)

// zoneFlag is the zone of times that people read and write.
type zoneFlag struct{ env *ui.Env }

func (f *zoneFlag) String() string { return "" }
func (f *zoneFlag) Type() string   { return "zone" }

// Set takes a name of the zone database.
func (f *zoneFlag) Set(name string) error {
	schedule, err := calendar.Parse("12:00 " + name)
	if err != nil {
		what := err.Error()
		if _, text, found := strings.Cut(what, "unknown time zone"); found {
			what = "unknown time zone" + text
		}
		return fmt.Errorf("%s", what)
	}
	f.env.Zone = calendar.Location(schedule)
	return nil
}

// resolveTimes reads the times among the flags of a command, when its zone is known.
func resolveTimes(env *ui.Env, command *cobra.Command) {
	command.Flags().Visit(func(f *pflag.Flag) {
		if at, ok := f.Value.(interface {
			Resolve(time.Time, *time.Location)
		}); ok {
			at.Resolve(env.Now(), env.Zone)
		}
	})
}
