package timer

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/nextrun/nextrun/cmd/nextrun/cli/ui"
)

// golden compares the elapses of a timer with a file, or writes it.
func golden(env *ui.Env, timers []string, o nextOptions) error {
	if len(timers) != 1 || o.after.Value.IsZero() {
		return ui.Usagef("--golden needs one timer, and --after, without which the elapses are others each time")
	}
	result, zone, err := nextOf(env, timers[0], o)
	if err != nil {
		return BadTimer(err)
	}
	lines := []string{"# " + result.NormalForm}
	for _, e := range result.Elapses {
		lines = append(lines, e.UTC.Format("2006-01-02 15:04:05 UTC")+e.UTC.In(zone).Format("  Mon 2006-01-02 15:04:05 MST"))
	}
	if o.updateGolden {
		return os.WriteFile(o.golden, []byte(strings.Join(lines, "\n")+"\n"), 0o666) //nolint:gosec // committed with the program
	}
	text, err := os.ReadFile(o.golden)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s does not exist; give --update-golden to write it", o.golden)
	}
	if err != nil {
		return err
	}
	return differ(env, o.golden, strings.Split(strings.TrimSpace(string(text)), "\n"), lines)
}

// differ writes the lines that only one of two lists has, and returns an error if there are
// any.
func differ(env *ui.Env, file string, want, got []string) error {
	differences := 0
	show := func(sign string, lines, others []string) error {
		for _, l := range lines {
			if slices.Contains(others, l) {
				continue
			}
			differences++
			if err := env.Printf("%s %s\n", sign, ui.Printable(l)); err != nil {
				return err
			}
		}
		return nil
	}
	if err := errors.Join(show("-", want, got), show("+", got, want)); err != nil {
		return err
	}
	if differences > 0 {
		return ui.Foundf("the elapses are not those of %s (- only there, + only now); if that is right, give --update-golden", file)
	}
	return nil
}
