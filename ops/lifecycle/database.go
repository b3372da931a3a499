package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/sirupsen/logrus"

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

// schemaPause is for how long a schema that was right is not compared again.
const schemaPause = time.Minute

// Schema is the stage that compares the tables with what this version needs; with
// migrate, it makes them before. It refuses to start if statements would fail, and
// logs what else is missing (nil: to logrus.StandardLogger()).
func Schema(db *store.DB, migrate bool, log logrus.FieldLogger) Stage {
	service.SetDefault[logrus.FieldLogger](&log, logrus.StandardLogger())
	c := &schemaCheck{db: db, log: log}
	return Stage{
		Name: SchemaStage, Needs: []string{DatabaseStage}, Health: c.health,
		Up: func(ctx context.Context) error {
			if migrate {
				return c.migrate(ctx)
			}
			return c.first(ctx)
		},
	}
}

type schemaCheck struct {
	db    *store.DB
	log   logrus.FieldLogger
	mu    sync.Mutex
	right time.Time // when it was last seen to be
}

func (c *schemaCheck) migrate(ctx context.Context) error {
	done, err := migrations.Of(c.db).Up(ctx)
	for _, m := range done {
		c.log.WithField("migration", m.Name).Info("migration applied")
	}
	return err
}

func (c *schemaCheck) first(ctx context.Context) error {
	missing, err := c.look(ctx)
	if err != nil {
		return fmt.Errorf("%s: %w", c.db.URL(), err)
	}
	if missing != nil {
		c.log.WithError(missing).Warn("the database's schema is not complete")
	}
	return nil
}

// look returns what is missing without harm, and as an error what does harm.
func (c *schemaCheck) look(ctx context.Context) (*migrations.MissingError, error) {
	err := migrations.Of(c.db).Check(ctx)
	var missing *migrations.MissingError
	if errors.As(err, &missing) && !missing.Breaks() {
		return missing, nil
	}
	return nil, err
}

func (c *schemaCheck) health(ctx context.Context) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.right.IsZero() && time.Since(c.right) < schemaPause {
		return nil
	}
	_, err := c.look(ctx)
	if err == nil {
		c.right = time.Now()
	}
	return err
}
