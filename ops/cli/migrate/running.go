package migrate

import (
	"context"
	"fmt"
	"strings"

	"github.com/nextrun/nextrun/migrations"
	"github.com/nextrun/nextrun/ops/cli/ui"
	"github.com/nextrun/nextrun/ops/internal/view"
	"github.com/nextrun/nextrun/store"
)

// printRunning says before an update of the tables who runs, and who could not be started again after it.
func printRunning(ctx context.Context, env *ui.Env, db *store.DB) error {
	m := migrations.Of(db)
	list, err := m.Status(ctx)
	if err != nil || !list[0].Done || list[len(list)-1].Done {
		return nil //nolint:nilerr // what is wrong, Up says
	}
	who := running(ctx, db)
	if who == "" {
		return nil
	}
	out, err := m.ShutsOut(ctx)
	if err != nil {
		return err
	}
	return env.Printf("running: %s\n%s", who, warning(out))
}

// running names the services that live on a database, with the versions of their programs; empty: none, or it cannot be
// read.
func running(ctx context.Context, db *store.DB) string {
	services, err := view.Of(db).Services(ctx)
	if err != nil {
		return ""
	}
	var list []string
	for _, s := range services {
		if s.Lives {
			list = append(list, fmt.Sprintf("%s %s (%s)", s.Kind, s.Worker, s.Version))
		}
	}
	return strings.Join(list, ", ")
}

// warning says who could not be started again.
func warning(out migrations.ShutsOut) string {
	switch {
	case out.Below == 0:
		return ""
	case out.All():
		return "warning: none of them can be started again after this update: update their programs\n"
	}
	return fmt.Sprintf("warning: those whose programs know less than migration %d cannot be started again after this update: update them\n", out.Below)
}
