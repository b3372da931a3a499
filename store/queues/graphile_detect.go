package queues

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/nextrun/nextrun/internal/foreign"
	"github.com/nextrun/nextrun/internal/sqldb"
)

// graphileMinLevel is the migration of Graphile Worker 0.16.0, the first release with
// the view jobs and with an add_jobs that notifies once for all jobs.
const graphileMinLevel = 18

// graphileJobs is the table of jobs. Its name is private to Graphile Worker, as are
// those of the other tables that add_jobs writes.
const graphileJobs = "_private_jobs"

const graphileInstall = "run: npx graphile-worker --schema-only --connection ... (https://worker.graphile.org)"

func (k graphileWorker) detect(ctx context.Context, tx *sqldb.Tx, r *foreign.Inspection) (*foreign.Shape, error) {
	private, err := k.rights(ctx, tx, r)
	if err != nil || r.Unusable() {
		return nil, err
	}
	var seen foreign.Inspection // the rights that it asks for are part of those above
	done := foreign.Relation{Schema: k.Schema, Name: "migrations"}
	if ok, err := done.Look(ctx, tx, &seen, graphileInstall); err != nil || !ok {
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
		r.Problem("update Graphile Worker to 0.16 or newer, which migrates its tables when it starts",
			"Graphile Worker's tables are at migration %d; nextrun needs %d or newer", level, graphileMinLevel)
		return nil, nil
	}
	jobs := foreign.Relation{Schema: k.Schema, Name: "jobs", Rights: []string{"SELECT"}}
	if ok, err := jobs.Look(ctx, tx, &seen, "update Graphile Worker to 0.16 or newer"); err != nil || !ok {
		r.Problems = append(r.Problems, seen.Problems...)
		return nil, err
	}
	fields, err := k.fields(ctx, tx, r)
	if err != nil || r.Unusable() {
		return nil, err
	}
	return k.postgres(fields, private), nil
}

// level is the newest migration of Graphile Worker; 0 if this role may not read it.
func (k graphileWorker) level(ctx context.Context, tx *sqldb.Tx) (level int, err error) {
	may := false
	table := foreign.Qualified(k.Schema, "migrations")
	if err := tx.First(ctx, &may, `SELECT has_table_privilege($1, 'SELECT')`, table); err != nil || !may {
		return 0, err
	}
	err = tx.First(ctx, &level, `SELECT coalesce(max(id), 0) FROM `+table)
	return level, err
}

// graphileRights are the rights that add_jobs and complete_jobs need, by table.
var graphileRights = map[string]string{
	graphileJobs:          "SELECT, INSERT, UPDATE, DELETE",
	"_private_tasks":      "SELECT, INSERT",
	"_private_job_queues": "SELECT, INSERT",
	"jobs":                "SELECT",
}

// graphileTable is one of these tables, as the role of the connection may use it.
type graphileTable struct {
	OID         int64
	Name        string
	Owner, Role string
	Policy      string // the name of a policy for the role
	// Hidden says that row level security hides all rows from the role: Graphile
	// Worker switches it on and has no policy, so that rights are not enough.
	Hidden bool
}

// rights reports that the role may not add jobs. private says that the table of jobs
// is where nextrun knows it.
func (k graphileWorker) rights(ctx context.Context, tx *sqldb.Tx, r *foreign.Inspection) (private bool, err error) {
	var tables []graphileTable
	err = tx.Select(ctx, &tables, `SELECT c.oid::bigint AS oid, c.relname AS name, pg_get_userbyid(c.relowner) AS owner,
			quote_ident(current_user) AS role, quote_ident(left('nextrun_' || current_user, 63)) AS policy,
			row_security_active(c.oid) AND NOT EXISTS (SELECT 1 FROM pg_policy AS p WHERE p.polrelid = c.oid AND p.polpermissive
				AND EXISTS (SELECT 1 FROM unnest(p.polroles) AS u (role) WHERE u.role = 0 OR pg_has_role(u.role, 'USAGE'))) AS hidden
		FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
		WHERE n.nspname = $1 AND c.relname IN ('jobs', '_private_jobs', '_private_tasks', '_private_job_queues') AND EXISTS (
			SELECT 1 FROM pg_class AS j WHERE j.relnamespace = n.oid AND j.relname = '_private_jobs')
		ORDER BY c.relname`, k.Schema)
	if err != nil || len(tables) == 0 {
		return false, err
	}
	missing, err := k.missing(ctx, tx, tables)
	if err != nil {
		return false, err
	}
	if len(missing) > 0 {
		r.Problem("as "+tables[0].Owner+" run: "+strings.Join(missing, " "), "role %s may not add jobs of Graphile Worker", tables[0].Role)
		return false, nil
	}
	// Planning this insert waits for a lock of the table, as add_jobs would.
	_, err = tx.Exec(ctx, `EXPLAIN INSERT INTO `+foreign.Qualified(k.Schema, graphileJobs)+` (task_id) SELECT 1 WHERE false`)
	return true, err
}

// missing returns statements that give the role what it lacks.
func (k graphileWorker) missing(ctx context.Context, tx *sqldb.Tx, tables []graphileTable) (missing []string, err error) {
	need := func(has bool, statement string) {
		if !has {
			missing = append(missing, statement)
		}
	}
	may := false
	if err := tx.First(ctx, &may, `SELECT has_schema_privilege($1, 'USAGE')`, k.Schema); err != nil {
		return nil, err
	}
	need(may, fmt.Sprintf("GRANT USAGE ON SCHEMA %s TO %s;", foreign.Quote(k.Schema), tables[0].Role))
	for _, t := range tables {
		name, rights, all := foreign.Qualified(k.Schema, t.Name), graphileRights[t.Name], true
		for right := range strings.SplitSeq(rights, ", ") {
			if err := tx.First(ctx, &may, `SELECT has_table_privilege($1::bigint::oid, $2)`, t.OID, right); err != nil {
				return nil, err
			}
			all = all && may
		}
		need(all, fmt.Sprintf("GRANT %s ON %s TO %s;", rights, name, t.Role))
		if t.Name != "jobs" {
			need(!t.Hidden, fmt.Sprintf("CREATE POLICY %s ON %s TO %s USING (true) WITH CHECK (true);", t.Policy, name, t.Role))
		}
	}
	return missing, nil
}

// fields returns the fields of a job_spec, of which add_jobs takes an array.
func (k graphileWorker) fields(ctx context.Context, tx *sqldb.Tx, r *foreign.Inspection) (fields []string, err error) {
	err = tx.Select(ctx, &fields, `SELECT a.attname FROM pg_attribute AS a JOIN pg_class AS c ON c.oid = a.attrelid
		JOIN pg_namespace AS n ON n.oid = c.relnamespace
		WHERE n.nspname = $1 AND c.relname = 'job_spec' AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum`, k.Schema)
	for field := range graphileFields {
		if !slices.Contains(fields, field) {
			r.Problem("use a newer version of nextrun", "the type job_spec of Graphile Worker has no field %s", field)
			break
		}
	}
	return fields, err
}
