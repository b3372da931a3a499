package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/nextrun/nextrun/internal/service"
	"github.com/nextrun/nextrun/migrations"
	"github.com/nextrun/nextrun/store"
)

// The names of the stages of this file.
const (
	DatabaseStage = "database"
	SchemaStage   = "schema"
)

// Database is the stage of a database that is open. It checks that the database can be
// reached, and closes it at the end.
func Database(db *store.DB) Stage {
	return Stage{
		Name: DatabaseStage, Up: db.Ping, Health: db.Ping,
		Down: func(context.Context) error { return db.Close() },
	}
}

// Schema is the stage that compares the tables with what this version needs; with
// migrate, it makes them before. It refuses to start if statements would fail, and
// logs what else is missing (nil: to slog.Default()).
func Schema(db *store.DB, migrate bool, log *slog.Logger) Stage {
	service.SetDefault(&log, slog.Default())
	return Stage{Name: SchemaStage, Up: func(ctx context.Context) error {
		if migrate {
			done, err := migrations.Of(db).Up(ctx)
			for _, m := range done {
				log.Info("migration applied", "migration", m.Name)
			}
			return err
		}
		err := migrations.Of(db).Check(ctx)
		var missing *migrations.MissingError
		if errors.As(err, &missing) && !missing.Breaks() {
			log.Warn("the database's schema is not complete", "error", missing)
			return nil
		}
		if err != nil {
			return fmt.Errorf("%s: %w", db.URL(), err)
		}
		behind, err := migrations.Of(db).Behind(ctx)
		for _, remedy := range behind {
			log.Error(remedy)
		}
		return err
	}}
}
