package queues

import (
	"context"
	"fmt"
	"slices"

	"github.com/nextrun/nextrun/store/internal/sqldb"
)

// graphileMinLevel is the migration of Graphile Worker 0.16.0, the first release with
// the view jobs and with an add_jobs that notifies once for all jobs.
const graphileMinLevel = 18

// graphileJobs is the table of jobs. Its name is private to Graphile Worker, as are
// those of the other tables that add_jobs writes.
const graphileJobs = "_private_jobs"

const graphileInstall = "run: npx graphile-worker --schema-only --connection ... (https://worker.graphile.org)"

func (k GraphileWorker) detect(ctx context.Context, tx *sqldb.Tx, r *Report) (*shape, error) {
	if err := k.rights(ctx, tx, r); err != nil || r.unusable() {
		return nil, err
	}
	var seen Report // the rights that it asks for are part of those above
	done := relation{schema: k.Schema, name: "migrations"}
	if ok, err := done.look(ctx, tx, &seen, graphileInstall); err != nil || !ok {
		r.Problems = append(r.Problems, seen.Problems...)
		return nil, err
	}
	level, err := k.level(ctx, tx)
	if err != nil {
		return nil, err
	}
	r.Found = fmt.Sprintf("migration %d", level)
	switch {
	case level == 0:
		r.Found = fmt.Sprintf("migration %d or newer", graphileMinLevel)
	case level < graphileMinLevel:
		r.problem("update Graphile Worker to 0.16 or newer, which migrates its tables when it starts",
			"Graphile Worker's tables are at migration %d; nextrun needs %d or newer", level, graphileMinLevel)
		return nil, nil
	}
	jobs := relation{schema: k.Schema, name: "jobs", rights: []string{"SELECT"}}
	if ok, err := jobs.look(ctx, tx, &seen, "update Graphile Worker to 0.16 or newer"); err != nil || !ok {
		r.Problems = append(r.Problems, seen.Problems...)
		return nil, err
	}
	return k.functions(ctx, tx, r)
}

// level is the newest migration of Graphile Worker; 0 if this role may not read it.
func (k GraphileWorker) level(ctx context.Context, tx *sqldb.Tx) (level int, err error) {
	may := false
	table := qualified(k.Schema, "migrations")
	if err := tx.First(ctx, &may, `SELECT has_table_privilege($1, 'SELECT')`, table); err != nil || !may {
		return 0, err
	}
	err = tx.First(ctx, &level, `SELECT coalesce(max(id), 0) FROM `+table)
	return level, err
}

// graphileTable is a table that add_jobs or complete_jobs writes.
type graphileTable struct {
	Name        string
	Owner, Role string
	May         bool // has all rights
	Secured     bool // by row level security, which has no policies
}

// rights reports that the role may not add jobs. Graphile Worker has switched on row
// level security, so that rights on the tables are not enough: a role must be one of
// the owner's, or bypass it.
func (k GraphileWorker) rights(ctx context.Context, tx *sqldb.Tx, r *Report) error {
	var tables []graphileTable
	err := tx.Select(ctx, &tables, `SELECT c.relname AS name, quote_ident(pg_get_userbyid(c.relowner)) AS owner,
			quote_ident(current_user) AS role, row_security_active(c.oid) AS secured,
			has_table_privilege(c.oid, 'SELECT') AND has_table_privilege(c.oid, 'INSERT') AND has_table_privilege(c.oid, 'UPDATE')
				AND has_table_privilege(c.oid, 'DELETE') AS may
		FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
		WHERE n.nspname = $1 AND c.relname IN ('_private_jobs', '_private_tasks', '_private_job_queues')`, k.Schema)
	if err != nil {
		return err
	}
	for _, t := range tables {
		grant := fmt.Sprintf("GRANT %s TO %s;", t.Owner, t.Role)
		if t.Owner != t.Role {
			r.grant(grant)
		}
		if !t.May || t.Secured {
			r.problem("as "+t.Owner+" or a superuser run: "+grant, "role %s may not add jobs of Graphile Worker, whose tables are protected "+
				"by row level security and belong to %s", t.Role, t.Owner)
			return nil
		}
	}
	if slices.ContainsFunc(tables, func(t graphileTable) bool { return t.Name == graphileJobs }) {
		// Planning the insert waits for a lock of the table, as add_jobs would.
		_, err = tx.Exec(ctx, `EXPLAIN INSERT INTO `+qualified(k.Schema, graphileJobs)+` (task_id) SELECT 1 WHERE false`)
	}
	return err
}

// functions looks at add_jobs and its argument.
func (k GraphileWorker) functions(ctx context.Context, tx *sqldb.Tx, r *Report) (*shape, error) {
	var fields []string
	err := tx.Select(ctx, &fields, `SELECT a.attname FROM pg_attribute AS a JOIN pg_class AS c ON c.oid = a.attrelid
		JOIN pg_namespace AS n ON n.oid = c.relnamespace
		WHERE n.nspname = $1 AND c.relname = 'job_spec' AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum`, k.Schema)
	if err != nil {
		return nil, err
	}
	for field := range graphileFields {
		if !slices.Contains(fields, field) {
			r.problem("use a newer version of nextrun", "the type job_spec of Graphile Worker has no field %s", field)
			return nil, nil
		}
	}
	return k.postgres(fields), nil
}
