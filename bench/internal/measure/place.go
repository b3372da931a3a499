package measure

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"time"

	"github.com/nextrun/nextrun/bench/internal/floor"
	"github.com/nextrun/nextrun/internal/dburl"
	"github.com/nextrun/nextrun/migrations"
	"github.com/nextrun/nextrun/store"
)

// removing is how long the removal of what was made may take after the run was ended.
const removing = 30 * time.Second

// place is the database of somebody, in which, or beside which, databases to measure in are made and removed.
type place struct {
	url     string
	file    string // of SQLite; empty: PostgreSQL
	options store.Options
	db      *DB // PostgreSQL
}

// find opens the database that a URL names; a file of SQLite is left alone, and need not exist.
func find(ctx context.Context, databaseURL string, options store.Options) (*place, error) {
	u, err := dburl.Parse(databaseURL)
	if err != nil {
		return nil, err
	}
	options.Schema, options.Create = "", false
	if u.Postgres == nil {
		return &place{file: u.SQLite, options: options}, nil
	}
	clean := *u.Postgres
	query := clean.Query()
	query.Del("schema") // nothing is to be found in other schemas
	query.Del("search_path")
	clean.RawQuery = query.Encode()
	p := &place{url: clean.String(), options: options}
	if p.db, err = Open(ctx, p.url, options); err != nil {
		return nil, err
	}
	if err := p.db.Plain.MayCreate(ctx); err != nil {
		return nil, errors.Join(err, p.db.Close())
	}
	return p, nil
}

func (p *place) close() error {
	if p.db == nil {
		return nil
	}
	return p.db.Close()
}

// with runs fn with a database that has nextrun's tables and nothing in them, and removes it, also when ctx has ended.
func (p *place) with(ctx context.Context, fn func(*DB) error) (err error) {
	name, err := newName()
	if err != nil {
		return err
	}
	url, options := p.url, p.options
	options.Create = true
	if p.file != "" {
		url = "sqlite:" + p.file + "." + name
	} else {
		options.Schema = name
	}
	defer func() {
		// Whatever has happened, and though ctx may have ended.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), removing)
		defer cancel()
		if rerr := p.remove(ctx, name); rerr != nil {
			err = errors.Join(err, fmt.Errorf("remove %s, in which was measured: %w; it is left over, remove it with --clean", name, rerr))
		}
	}()
	db, err := Open(ctx, url, options)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if _, err := migrations.Of(db).Up(ctx); err != nil {
		return err
	}
	return fn(db)
}

// newName is a name that nobody has.
func newName() (string, error) {
	var random [4]byte
	if _, err := rand.Read(random[:]); err != nil {
		return "", err
	}
	return "nextrun_bench_" + time.Now().UTC().Format("20060102_150405_") + hex.EncodeToString(random[:]), nil
}

// left are the names of what runs have made that go on, or have crashed: schemas, or files.
func (p *place) left(ctx context.Context) ([]string, error) {
	if p.file == "" {
		return p.db.Plain.Schemas(ctx)
	}
	entries, err := os.ReadDir(filepath.Dir(p.file))
	if err != nil {
		return nil, err
	}
	own := regexp.MustCompile(`^` + regexp.QuoteMeta(filepath.Base(p.file)) + `\.(nextrun_bench_[0-9a-f_]+)(-wal|-shm|-journal)?$`)
	var names []string
	for _, e := range entries {
		found := own.FindStringSubmatch(e.Name())
		if len(found) > 1 && floor.IsOwn(found[1]) && (len(names) == 0 || names[len(names)-1] != found[1]) {
			names = append(names, found[1])
		}
	}
	return names, nil
}

func (p *place) remove(ctx context.Context, name string) error {
	if p.file == "" {
		return p.db.Plain.Drop(ctx, name)
	}
	if !floor.IsOwn(name) {
		return fmt.Errorf("%q is not a file to measure in", name)
	}
	var failed error
	for _, suffix := range []string{"", "-wal", "-shm", "-journal"} {
		if err := os.Remove(p.file + "." + name + suffix); !errors.Is(err, os.ErrNotExist) {
			failed = errors.Join(failed, err)
		}
	}
	return errors.Join(failed, os.RemoveAll(p.file+"."+name+"-workers"))
}

// Clean removes the schemas, or the files, that runs of [Run] have made and not removed, and returns their names, or the ends
// of them. A run that goes on then fails.
func Clean(ctx context.Context, databaseURL string, options store.Options) (names []string, err error) {
	p, err := find(ctx, databaseURL, options)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, p.close()) }()
	found, err := p.left(ctx)
	if err != nil {
		return nil, err
	}
	for _, name := range found {
		if err := p.remove(ctx, name); err != nil {
			return names, fmt.Errorf("remove %s: %w", name, err)
		}
		names = append(names, name)
	}
	return names, nil
}

// kindOf names a database for people.
func (p *place) kindOf() string {
	if p.file != "" {
		return "SQLite"
	}
	return "PostgreSQL"
}
