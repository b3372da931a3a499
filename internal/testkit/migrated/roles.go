package migrated

import (
	"context"
	"database/sql"
	"errors"
	"net/url"
	"os"
	"strings"

	"github.com/nextrun/nextrun/internal/testkit/storetest"
	"github.com/nextrun/nextrun/store"
)

// RolesVariable names the environment variable that has tests on PostgreSQL use the
// database with the rights of the roles that they name with [As] or
// [Database.As], instead of those of the owner. What users do by SQL they still do
// as the owner.
const RolesVariable = "NEXTRUN_TEST_ROLES"

// rolePrefix is what the names of these roles begin with.
const rolePrefix = "nextrun_test_"

// packageRoles are those of the tests of a package; empty: the owner.
var packageRoles []string

func rolesAreWanted() bool { return os.Getenv(RolesVariable) != "" && copies.Load() }

// As names the roles that [Database.Store] has in the tests of a package. Call it
// before [VerifyTestMain].
func As(roles ...string) { packageRoles = roles }

// As is the database with the rights of roles; without [RolesVariable] it is Store.
func (d *Database) As(roles ...string) *store.DB {
	d.Helper()
	if !rolesAreWanted() {
		return d.Store
	}
	return openAs(d.Database, roles).Store
}

func openAs(d *storetest.Database, roles []string) *Database {
	d.Helper()
	if !rolesAreWanted() || d.Kind != storetest.Postgres || len(roles) == 0 {
		return open(d, d.URL)
	}
	u, err := url.Parse(d.URL)
	if err != nil {
		d.Fatal(err)
	}
	query := u.Query()
	if strings.Contains(query.Get("options"), "role=") { // the test has one of its own
		return open(d, d.URL)
	}
	login := rolePrefix + "as_" + strings.Join(roles, "_")
	// Other packages make the same roles at the same time, in databases of their own.
	d.Exec("DO $$ BEGIN CREATE ROLE " + login + "; EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; END $$;" +
		"DO $$ BEGIN GRANT " + rolePrefix + strings.Join(roles, ", "+rolePrefix) + " TO " + login +
		"; EXCEPTION WHEN unique_violation OR internal_error THEN NULL; END $$;" +
		// Tables that a test makes, such as another queue's, are not nextrun's to grant.
		"ALTER DEFAULT PRIVILEGES GRANT ALL ON TABLES TO " + login + "; ALTER DEFAULT PRIVILEGES GRANT ALL ON SEQUENCES TO " + login)
	query.Set("options", "-c role="+login)
	u.RawQuery = query.Encode()
	return open(d, u.String())
}

// grant sets the rights of all roles in a database that has the tables.
func grant(address string) (err error) {
	if !rolesAreWanted() || !strings.HasPrefix(address, "postgres") {
		return nil
	}
	db, err := sql.Open("postgres", address)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	for _, role := range storetest.Roles() { // other packages make them at the same time
		if _, err := db.Exec("DO $$ BEGIN CREATE ROLE " + rolePrefix + role + "; EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; END $$"); err != nil {
			return err
		}
	}
	return storetest.RunScript(context.Background(), address, "roles.sql", "prefix="+rolePrefix)
}
