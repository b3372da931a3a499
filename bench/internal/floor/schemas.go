package floor

import (
	"context"
	"fmt"
	"regexp"
)

// namePrefix begins the names of schemas in which people measure.
const namePrefix = "nextrun_bench_"

// ownName is the name of such a schema: nobody has another one of that form.
var ownName = regexp.MustCompile(`^nextrun_bench_[0-9]{8}_[0-9]{6}_[0-9a-f]{8}$`)

// IsOwn reports whether a schema is one to measure in, by its name.
func IsOwn(schema string) bool { return ownName.MatchString(schema) }

// MayCreate returns an error unless this role may create a schema in this database (PostgreSQL).
func (p Plain) MayCreate(ctx context.Context) error {
	if p.sqlite {
		return nil
	}
	var who struct {
		May            bool
		Role, Database string
	}
	err := p.row(ctx, &who, `SELECT has_database_privilege(current_database(), 'CREATE') AS may,
		quote_ident(current_user) AS role, quote_ident(current_database()) AS database`)
	if err == nil && !who.May {
		return fmt.Errorf("the role %[1]s may not create schemas in the database %[2]s; have its owner run: GRANT CREATE ON DATABASE %[2]s TO %[1]s",
			who.Role, who.Database)
	}
	return err
}

// Schemas are the names of all schemas to measure in (PostgreSQL): of runs that go on, and of those that crashed.
func (p Plain) Schemas(ctx context.Context) (names []string, err error) {
	if p.sqlite {
		return nil, nil
	}
	var all []string
	if err := p.rows(ctx, &all, "SELECT nspname FROM pg_namespace WHERE nspname LIKE '"+namePrefix+"%' ORDER BY nspname"); err != nil {
		return nil, err
	}
	for _, name := range all {
		if IsOwn(name) {
			names = append(names, name)
		}
	}
	return names, nil
}

// Drop removes a schema to measure in, with all that is in it. It refuses every other name.
func (p Plain) Drop(ctx context.Context, schema string) error {
	if !IsOwn(schema) {
		return fmt.Errorf("the schema %q is not one to measure in", schema)
	}
	return p.exec(ctx, `DROP SCHEMA IF EXISTS "`+schema+`" CASCADE`)
}
