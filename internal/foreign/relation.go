package foreign

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/nextrun/nextrun/internal/sqldb"
)

// Relation is a table, or a view, of the other system.
type Relation struct {
	Schema  string   // as configured; empty: the first of the search path that has it
	Name    string   // the table's
	Rights  []string // that the queue needs, such as INSERT
	Writes  []string // columns that the insert writes; every other one must be able to do without
	Serial  string   // the column whose sequence an insert uses; empty: none
	Unlike  bool     // no other system has a table of this name
	Columns []string // as found
	// required are the columns found that an insert must write, and found is the
	// schema that the table is in.
	required []string
	Found    string
	Exists   bool
}

// As is the table's Qualified name.
func (t *Relation) As() string { return Qualified(t.Found, t.Name) }

// Has reports whether the table has a column.
func (t *Relation) Has(column string) bool { return slices.Contains(t.Columns, column) }

// Look looks for the table and reports columns and rights that are missing; remedy
// is for a table that does not exist. It is false if the table cannot be used.
func (t *Relation) Look(ctx context.Context, tx *sqldb.Tx, r *Inspection, remedy string) (bool, error) {
	find := t.findPostgres
	if tx.SQL().IsSQLite() {
		find = t.FindSQLite
	}
	if err := find(ctx, tx, r); err != nil {
		return false, err
	}
	if !t.Exists {
		return false, t.missing(ctx, tx, r, remedy)
	}
	if r.Unusable() {
		return false, nil
	}
	for _, c := range t.required {
		if len(t.Writes) > 0 && !slices.Contains(t.Writes, c) {
			r.Problem("use a newer version of nextrun", "table %s has a column %s that needs a value, which nextrun does not know", t.Name, c)
			return false, nil
		}
	}
	return true, nil
}

// Complete reports the columns that the insert writes and the table does not have, as
// after somebody has renamed one. It is false if there are any.
func (t *Relation) Complete(r *Inspection) bool {
	var lacking []string
	for _, c := range t.Writes {
		if !t.Has(c) {
			lacking = append(lacking, c)
		}
	}
	if len(lacking) == 0 {
		return true
	}
	r.Problem("restore what was renamed or dropped, or use a version of nextrun that knows this schema",
		"table %s has no column %s, which nextrun writes", t.Name, strings.Join(lacking, ", "))
	return false
}

// missing reports that there is no such table, or that it is in another schema.
func (t *Relation) missing(ctx context.Context, tx *sqldb.Tx, r *Inspection, remedy string) error {
	var schemas []string
	if t.Unlike && !tx.SQL().IsSQLite() {
		if err := tx.Select(ctx, &schemas, `SELECT n.nspname FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
			WHERE c.relname = $1 AND c.relkind IN ('r', 'p', 'v', 'm', 'f') ORDER BY 1`, t.Name); err != nil {
			return err
		}
	}
	name := strings.ReplaceAll(Qualified(t.Schema, t.Name), `"`, "")
	if len(schemas) == 0 {
		r.Problem(remedy, "there is no table %s in this database", name)
		return nil
	}
	where := "in the search path"
	if t.Schema != "" {
		where = "in the schema " + t.Schema
	}
	r.Problem("set schema to where this queue is", "there is no table %s %s, but one in %s", t.Name, where, strings.Join(schemas, ", "))
	return nil
}

// relationRow is a table as the catalog shows it.
type relationRow struct {
	OID      int64
	Nsp      string
	Role     string
	Sequence *string
	Usage    bool
	Owner    string
}

// findPostgres looks into the catalog, which needs no rights. Errors of a missing
// right would end the transaction.
func (t *Relation) findPostgres(ctx context.Context, tx *sqldb.Tx, r *Inspection) error {
	where, arg := "c.oid = to_regclass($1)", Quote(t.Name)
	if t.Schema != "" {
		where, arg = "c.relname = $1 AND n.nspname = "+Literal(t.Schema), t.Name
	}
	var rows []relationRow
	err := tx.Select(ctx, &rows, `SELECT c.oid::bigint AS oid, n.nspname AS nsp, quote_ident(current_user) AS role,
			has_schema_privilege(n.oid, 'USAGE') AS usage, pg_get_userbyid(c.relowner) AS owner,
			(SELECT min(d.objid::regclass::text) FROM pg_depend AS d JOIN pg_class AS s ON s.oid = d.objid AND s.relkind = 'S'
				WHERE d.refobjid = c.oid AND d.classid = 'pg_class'::regclass AND d.deptype = 'a') AS sequence
		FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
		WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND `+where, arg)
	if err != nil || len(rows) == 0 {
		return err
	}
	at := rows[0]
	t.Exists, t.Found = true, at.Nsp
	if err := t.columnsPostgres(ctx, tx, at.OID); err != nil {
		return err
	}
	return t.rightsPostgres(ctx, tx, r, at)
}

func (t *Relation) columnsPostgres(ctx context.Context, tx *sqldb.Tx, oid int64) error {
	var columns []struct {
		Name     string
		Required bool
	}
	err := tx.Select(ctx, &columns, `SELECT attname AS name, attnotnull AND NOT atthasdef AND attidentity = '' AS required
		FROM pg_attribute WHERE attrelid = $1::bigint::oid AND attnum > 0 AND NOT attisdropped ORDER BY attnum`, oid)
	for _, c := range columns {
		t.Columns = append(t.Columns, c.Name)
		if c.Required {
			t.required = append(t.required, c.Name)
		}
	}
	return err
}

// rightsPostgres reports the rights that are missing and how to grant them.
func (t *Relation) rightsPostgres(ctx context.Context, tx *sqldb.Tx, r *Inspection, at relationRow) error {
	grant := func(what, on string) string {
		return fmt.Sprintf("GRANT %s ON %s TO %s;", what, on, at.Role)
	}
	var missing []string
	usage := grant("USAGE", "SCHEMA "+Quote(at.Nsp))
	if !at.Usage {
		missing = append(missing, usage)
	}
	var lacking []string
	for _, right := range t.Rights {
		var ok bool
		if err := tx.First(ctx, &ok, `SELECT has_table_privilege($1::bigint::oid, $2)`, at.OID, right); err != nil {
			return err
		}
		if !ok {
			lacking = append(lacking, right)
		}
	}
	if len(lacking) > 0 {
		missing = append(missing, grant(strings.Join(lacking, ", "), t.As()))
	}
	if t.Serial != "" && at.Sequence != nil {
		use := grant("USAGE", "SEQUENCE "+*at.Sequence)
		var ok bool
		if err := tx.First(ctx, &ok, `SELECT has_sequence_privilege(d.objid, 'USAGE') FROM pg_depend AS d
			JOIN pg_class AS s ON s.oid = d.objid AND s.relkind = 'S'
			WHERE d.refobjid = $1::bigint::oid AND d.classid = 'pg_class'::regclass AND d.deptype = 'a' LIMIT 1`, at.OID); err != nil {
			return err
		}
		if !ok {
			missing = append(missing, use)
		}
	}
	if len(missing) > 0 {
		r.Problem("as "+at.Owner+" run: "+strings.Join(missing, " "), "role %s lacks rights on %s", at.Role, t.As())
	}
	return nil
}

// FindSQLite looks for the table on SQLite.
func (t *Relation) FindSQLite(ctx context.Context, tx *sqldb.Tx, _ *Inspection) error {
	var columns []struct {
		Name     string
		Required bool
	}
	err := tx.Select(ctx, &columns, `SELECT name, "notnull" = 1 AND dflt_value IS NULL AND pk = 0 AS required
		FROM pragma_table_info($1)`, t.Name)
	t.Exists = len(columns) > 0
	for _, c := range columns {
		t.Columns = append(t.Columns, c.Name)
		if c.Required {
			t.required = append(t.required, c.Name)
		}
	}
	return err
}
