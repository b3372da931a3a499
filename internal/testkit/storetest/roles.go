package storetest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Roles are the roles that dist/postgres/roles.sql makes, without prefix; owner.sql makes another
// one, owner.
func Roles() []string {
	return []string{"scheduler", "executor", "relay", "operator", "reader"}
}

// RunScript has psql run a script of dist/postgres in a database, with variables such as
// prefix=shop_.
func RunScript(ctx context.Context, address, script string, variables ...string) error {
	file, err := distributed(script)
	if err != nil {
		return err
	}
	args := []string{"--no-psqlrc", "--quiet", "--file", file, "--dbname", address}
	for _, v := range variables {
		args = append(args, "--set", v)
	}
	out, err := exec.CommandContext(ctx, "psql", args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s: %w: %s", script, err, out)
	}
	return nil
}

// Script is [RunScript] in this database, as a role if one is named.
func (d *Database) Script(as, script string, variables ...string) {
	d.Helper()
	Client(d.TB, Postgres)
	address := d.URL
	if as != "" {
		address += "&options=-c%20role%3D" + as
	}
	if err := RunScript(d.Context(), address, script, variables...); err != nil {
		d.Fatal(err)
	}
}

// DropRoles removes roles and what they own when the test ends, in this order.
func (d *Database) DropRoles(names ...string) {
	d.Cleanup(func() {
		for _, name := range names {
			d.Exec("DO $$ BEGIN DROP OWNED BY " + name + " CASCADE; EXCEPTION WHEN undefined_object THEN NULL; END $$; DROP ROLE IF EXISTS " + name)
		}
	})
}

// distributed is the path of a file of dist/postgres.
func distributed(name string) (string, error) {
	dir, err := os.Getwd()
	for ; err == nil; dir = filepath.Dir(dir) {
		file := filepath.Join(dir, "dist", "postgres", name)
		if _, err := os.Stat(file); err == nil || !errors.Is(err, fs.ErrNotExist) {
			return file, err
		}
		if strings.TrimRight(dir, "/") == "" {
			return "", fmt.Errorf("dist/postgres/%s is not above the working directory: %w", name, fs.ErrNotExist)
		}
	}
	return "", err
}
