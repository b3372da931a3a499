package ui

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/nextrun/nextrun/migrations"
	"github.com/nextrun/nextrun/ops/config"
	"github.com/nextrun/nextrun/store"
	_ "github.com/nextrun/nextrun/store/postgres" // the driver of URLs
	_ "github.com/nextrun/nextrun/store/sqlite"   // the driver of URLs
)

// defaultDatabase is the database if no flag and no variable names one.
const defaultDatabase = "sqlite:nextrun.db"

// DatabaseURL is the database's URL, which may hold a password. A flag overrides
// both variables.
func (env *Env) DatabaseURL() (string, error) {
	url, path := env.Flags.DB, env.Flags.DBFile
	names := "--db and --db-file"
	if url == "" && path == "" {
		url, path = env.Setting("", "NEXTRUN_DB", ""), env.Setting("", "NEXTRUN_DB_FILE", "")
		names = "NEXTRUN_DB and NEXTRUN_DB_FILE"
	}
	switch {
	case url != "" && path != "":
		return "", Usagef("%s are both set; use one of them", names)
	case path != "":
		return readURL(path)
	}
	return cmp.Or(url, defaultDatabase), nil
}

// readURL reads the URL of a database from a file, which may say more in comments.
func readURL(path string) (url string, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("read the URL of the database: %w", err)
	}
	for line := range strings.Lines(string(text)) {
		switch line = strings.TrimSpace(line); {
		case line == "" || strings.HasPrefix(line, "#"):
		case url != "":
			return "", fmt.Errorf("%s has several lines; it must hold the URL of one database", path)
		default:
			url = line
		}
	}
	if url == "" {
		return "", fmt.Errorf("%s is empty; it must hold the URL of the database", path)
	}
	return url, nil
}

// Schema is the schema of PostgreSQL that holds the tables; empty: the URL says it.
func (env *Env) Schema() string { return env.Setting(env.Flags.Schema, "NEXTRUN_SCHEMA", "") }

// Setting is the value of a flag, or else of a variable without the white space around it, such as the line end of a
// mounted secret, or else a default.
func (env *Env) Setting(flag, variable, value string) string {
	if flag != "" {
		return flag
	}
	if set := strings.TrimSpace(env.Getenv(variable)); set != "" {
		return set
	}
	return value
}

// Configuration reads the configuration file; without one all is default.
func (env *Env) Configuration() (*config.Config, error) {
	path := env.Setting(env.Flags.Config, "NEXTRUN_CONFIG", "")
	if path == "" {
		return &config.Config{}, nil
	}
	return config.Read(path, env.Getenv)
}

// WorkerName is the name of this instance, by default the host's.
func (env *Env) WorkerName(flag string) (string, error) {
	if name := env.Setting(flag, "NEXTRUN_NAME", ""); name != "" {
		return name, nil
	}
	name, err := os.Hostname()
	if err != nil {
		return "", fmt.Errorf("find the host's name: %w; use --name", err)
	}
	return name, nil
}

// WithDatabase runs fn with the database, whose schema must be of the version that
// this program knows.
func (env *Env) WithDatabase(ctx context.Context, fn func(*store.DB) error) error {
	return env.WithAnyDatabase(ctx, store.Options{}, func(db *store.DB) error {
		if err := migrations.Of(db).CheckVersion(ctx); err != nil {
			return fmt.Errorf("%s: %w", db.URL(), err)
		}
		return fn(db)
	})
}

// WithAnyDatabase runs fn with the database, whatever its schema.
func (env *Env) WithAnyDatabase(ctx context.Context, options store.Options, fn func(*store.DB) error) (err error) {
	options.Schema = env.Schema()
	url, err := env.DatabaseURL()
	if err != nil {
		return err
	}
	db, err := store.Open(ctx, url, options)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	return fn(db)
}
