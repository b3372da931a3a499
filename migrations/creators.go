package migrations

import (
	"context"
	"fmt"
)

// Creators returns a sentence about the roles that may create objects in nextrun's schema
// although they do not own its tables, with the remedy; empty if there are none. PUBLIC is
// everybody. An operator or function that they make there can be run by nextrun's
// statements, with the rights of its login. Superusers and the owner of the schema are left out.
func (m *Migrator) Creators(ctx context.Context) (string, error) {
	if m.dialect == SQLite {
		return "", nil
	}
	var schema, roles string
	err := m.db.QueryRowContext(ctx, `SELECT coalesce(min(quote_ident(n.nspname)), ''),
		  coalesce(string_agg(CASE g.grantee WHEN 0 THEN 'PUBLIC' ELSE g.grantee::regrole::text END, ', ' ORDER BY g.grantee), '')
		FROM pg_namespace AS n, aclexplode(n.nspacl) AS g
		WHERE n.nspname = current_schema() AND g.privilege_type = 'CREATE' AND g.grantee <> n.nspowner
		  AND g.grantee <> coalesce((SELECT relowner FROM pg_class WHERE relnamespace = n.oid AND relname = $1), 0::oid)
		  AND NOT EXISTS (SELECT FROM pg_roles AS r WHERE r.oid = g.grantee AND r.rolsuper)`, versionTable).Scan(&schema, &roles)
	if err != nil {
		return "", fmt.Errorf("ask who may create in the schema: %w", err)
	}
	if roles == "" {
		return "", nil
	}
	return fmt.Sprintf("%s may create objects in the schema %s, and so make nextrun's statements run functions of theirs; "+
		"unless you trust them, run as its owner: REVOKE CREATE ON SCHEMA %s FROM %s", roles, schema, schema, roles), nil
}
