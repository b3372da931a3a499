package partition

import (
	"context"
	"fmt"
	"strings"
)

// ObstacleError is returned when something is on the table that a conversion cannot
// take along. Nothing has been changed then.
type ObstacleError struct{ Things []string }

// Error names the things with the remedy.
func (e *ObstacleError) Error() string {
	return fmt.Sprintf("the table %s cannot be converted; nothing was changed. In the way: %s. "+
		"Remove that first, and make it again afterwards", Table, strings.Join(e.Things, ", "))
}

// obstacles lists what depends on the table, or belongs to it, and would be lost.
const obstacles = `
	SELECT 'publication ' || quote_ident(pubname) FROM pg_publication JOIN pg_publication_rel ON prpubid = pg_publication.oid
	 WHERE prrelid = ` + table + `
	UNION ALL
	SELECT 'rule ' || quote_ident(rulename) FROM pg_rewrite WHERE ev_class = ` + table + `
	UNION ALL
	SELECT 'replica identity (ALTER TABLE ` + Table + ` REPLICA IDENTITY DEFAULT)' FROM pg_class WHERE oid = ` + table + ` AND relreplident <> 'd'
	UNION ALL
	SELECT 'identity column ' || quote_ident(attname) FROM pg_attribute WHERE attrelid = ` + table + ` AND attidentity <> ''
	UNION ALL
	SELECT 'child table ' || inhrelid::regclass FROM pg_inherits JOIN pg_class ON pg_class.oid = inhparent
	 WHERE inhparent = ` + table + ` AND relkind = 'r'
	UNION ALL
	SELECT 'parent table ' || inhparent::regclass FROM pg_inherits WHERE inhrelid = ` + table

// dependents lists what still depends on the old table, when all that can be taken
// along depends on the new one. What belongs to the old table itself does not count.
const dependents = `SELECT DISTINCT pg_describe_object(classid, objid, 0)
	FROM pg_depend JOIN pg_class AS c ON c.oid = '` + was + `'::regclass
	WHERE deptype = 'n' AND (refclassid = 'pg_class'::regclass AND refobjid = c.oid OR refclassid = 'pg_type'::regclass AND refobjid = c.reltype)
	  AND (classid, objid) NOT IN (
		SELECT 'pg_constraint'::regclass, oid FROM pg_constraint WHERE conrelid = c.oid
		UNION ALL SELECT 'pg_trigger'::regclass, oid FROM pg_trigger WHERE tgrelid = c.oid
		UNION ALL SELECT 'pg_policy'::regclass, oid FROM pg_policy WHERE polrelid = c.oid
		UNION ALL SELECT 'pg_attrdef'::regclass, oid FROM pg_attrdef WHERE adrelid = c.oid
		UNION ALL SELECT 'pg_statistic_ext'::regclass, oid FROM pg_statistic_ext WHERE stxrelid = c.oid
		UNION ALL SELECT 'pg_class'::regclass, indexrelid FROM pg_index WHERE indrelid = c.oid
		UNION ALL SELECT 'pg_class'::regclass, inhrelid FROM pg_inherits WHERE inhparent = c.oid)`

// without returns an [*ObstacleError] if a query names obstacles.
func without(ctx context.Context, q querier, query string) error {
	things, err := texts(ctx, q, query)
	if err != nil {
		return wrap("look for what depends on "+Table, err)
	}
	if len(things) > 0 {
		return &ObstacleError{things}
	}
	return nil
}
