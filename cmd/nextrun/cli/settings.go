package cli

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/nextrun/nextrun/cmd/nextrun/config"
	"github.com/nextrun/nextrun/store"
)

// defaultDatabase is the database if neither --db nor NEXTRUN_DB names one.
const defaultDatabase = "sqlite:nextrun.db"

// databaseURL is the database's URL, which may hold a password.
func (p *program) databaseURL() string { return p.setting(p.flags.db, "NEXTRUN_DB", defaultDatabase) }

// setting is the value of a flag, or else of a variable, or else a default.
func (p *program) setting(flag, variable, value string) string {
	if flag != "" {
		return flag
	}
	if set := p.env(variable); set != "" {
		return set
	}
	return value
}

// configuration reads the configuration file; without one all is default.
func (p *program) configuration() (*config.Config, error) {
	path := p.setting(p.flags.config, "NEXTRUN_CONFIG", "")
	if path == "" {
		return &config.Config{}, nil
	}
	return config.Read(path)
}

// workerName is the name of this instance, by default the host's.
func (p *program) workerName(flag string) (string, error) {
	if name := p.setting(flag, "NEXTRUN_NAME", ""); name != "" {
		return name, nil
	}
	name, err := os.Hostname()
	if err != nil {
		return "", fmt.Errorf("find the host's name: %w; use --name", err)
	}
	return name, nil
}

// withDatabase runs fn with the database, whose schema must be the one that
// this program knows.
func (p *program) withDatabase(ctx context.Context, fn func(*store.DB) error) error {
	return p.withAnyDatabase(ctx, store.Options{}, func(db *store.DB) error {
		if err := db.Migrator().Check(ctx); err != nil {
			return fmt.Errorf("%s: %w", db.URL(), err)
		}
		return fn(db)
	})
}

// withAnyDatabase runs fn with the database, whatever its schema.
func (p *program) withAnyDatabase(ctx context.Context, options store.Options, fn func(*store.DB) error) (err error) {
	db, err := store.Open(ctx, p.databaseURL(), options)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	return fn(db)
}
