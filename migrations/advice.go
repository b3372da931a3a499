package migrations

import (
	"context"
	"fmt"
	"strings"
)

// counted are the columns whose values a sequence of PostgreSQL makes.
var counted = [][2]string{{"event_store", "seq"}, {"outbox_message", "id"}}

// Behind says what sets right what logical replication, a partial restore or COPY has left behind: tables whose triggers are
// disabled, and sequences that are behind their columns, so that their next values exist already.
func (m *Migrator) Behind(ctx context.Context) (remedies []string, err error) {
	if m.dialect != Postgres {
		return nil, nil
	}
	var disabled string
	err = m.db.QueryRowContext(ctx, `SELECT coalesce(string_agg(format('ALTER TABLE %s ENABLE TRIGGER %I', tgrelid::regclass, tgname), '; ' ORDER BY tgname), '')
		FROM pg_trigger JOIN pg_class AS c ON c.oid = tgrelid
		WHERE relnamespace = current_schema()::regnamespace AND tgname LIKE 'nextrun\_%' AND tgenabled IN ('D', 'R')`).Scan(&disabled)
	if err != nil {
		return nil, fmt.Errorf("look for disabled triggers: %w", err)
	}
	if disabled != "" {
		remedies = append(remedies, "triggers of nextrun are disabled, so it does not notice what others write; run: "+disabled)
	}
	for _, c := range counted {
		next := fmt.Sprintf("pg_get_serial_sequence('%s', '%s')", c[0], c[1])
		newest := fmt.Sprintf("(SELECT max(%s) FROM %s)", c[1], c[0])
		var may, behind bool // who may not read them does not write there
		err := m.db.QueryRowContext(ctx, `SELECT has_sequence_privilege(`+next+`, 'USAGE, SELECT') AND has_table_privilege('`+c[0]+`', 'SELECT')`).Scan(&may)
		if err == nil && may {
			err = m.db.QueryRowContext(ctx, `SELECT coalesce(`+newest+` > coalesce(pg_sequence_last_value(`+next+`), 0), false)`).Scan(&behind)
		}
		if err != nil {
			return nil, denied("compare the sequence of "+c[0]+" with its table", err)
		}
		if behind {
			remedies = append(remedies, fmt.Sprintf("the sequence of %s.%s is behind its table; run: SELECT setval(%s, %s)", c[0], c[1], next, newest))
		}
	}
	return remedies, nil
}

// Creators returns sentences about the roles that may create objects in nextrun's schema
// although they do not own its tables, and about those that own tables that were there before, with the remedy; empty if
// there are none. PUBLIC is everybody. An operator or function that they make there, or a trigger of their tables, can be
// run by nextrun's statements, with the rights of its login. Superusers and the owner of the schema are left out.
func (m *Migrator) Creators(ctx context.Context) (string, error) {
	if m.dialect == SQLite {
		return "", nil
	}
	var schema, roles, owners, remedy string
	err := m.db.QueryRowContext(ctx, `SELECT coalesce(min(quote_ident(n.nspname)), ''),
		  coalesce(string_agg(CASE g.grantee WHEN 0 THEN 'PUBLIC' ELSE g.grantee::regrole::text END, ', ' ORDER BY g.grantee), '')
		FROM pg_namespace AS n, aclexplode(n.nspacl) AS g
		WHERE n.nspname = current_schema() AND g.privilege_type = 'CREATE' AND g.grantee <> n.nspowner
		  AND g.grantee <> coalesce((SELECT relowner FROM pg_class WHERE relnamespace = n.oid AND relname = $1), 0::oid)
		  AND NOT EXISTS (SELECT FROM pg_roles AS r WHERE r.oid = g.grantee AND r.rolsuper)`, versionTable).Scan(&schema, &roles)
	if err != nil {
		return "", fmt.Errorf("ask who may create in the schema: %w", err)
	}
	var said []string
	if roles != "" {
		said = append(said, fmt.Sprintf("%s may create objects in the schema %s, and so make nextrun's statements run functions of theirs; "+
			"unless you trust them, run as its owner: REVOKE CREATE ON SCHEMA %s FROM %s", roles, schema, schema, roles))
	}
	err = m.db.QueryRowContext(ctx, `SELECT coalesce(string_agg(format('%s owns %I', t.relowner::regrole, t.relname), ', ' ORDER BY t.relname), ''),
		  coalesce(string_agg(format('ALTER TABLE %s OWNER TO %s', t.oid::regclass, v.relowner::regrole), '; ' ORDER BY t.relname), '')
		FROM pg_class AS v JOIN pg_class AS t ON t.relnamespace = v.relnamespace AND t.relowner <> v.relowner JOIN pg_roles AS r ON r.oid = t.relowner
		WHERE v.relnamespace = current_schema()::regnamespace AND v.relname = $1 AND t.relkind IN ('r', 'p', 'v') AND NOT r.rolsuper
		  AND t.relname IN ('job', 'joblog', 'jobgroupuse', 'periodic_task', 'scheduler_lock')`, versionTable).Scan(&owners, &remedy)
	if err != nil {
		return "", fmt.Errorf("ask who owns the tables: %w", err)
	}
	if owners != "" {
		said = append(said, owners+", and so may add tasks and jobs, and have triggers run with the rights of nextrun's logins; "+
			"unless you trust them, drop triggers and rules that are not nextrun's, and run: "+remedy)
	}
	return strings.Join(said, ". "), nil
}
