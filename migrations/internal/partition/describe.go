package partition

import "context"

// description is what is on the table, as statements that make it again once the new
// table has the name.
type description struct {
	views   []string // before the old table is dropped
	loosen  []string // foreign keys of other tables to the old one are dropped
	restore []string // after that
	columns string
	storage string // the options of storage of the rows, "" or a clause
	owner   string
}

// table is the table as a value of SQL.
const table = `'` + Table + `'::regclass`

// Parts of the description. Each query names its statements in an order in which they
// can run.
const (
	// Views stay what they are, with owner, rights, comments and all that depends on
	// them: they are replaced by themselves.
	describeViews = `SELECT DISTINCT format('CREATE OR REPLACE VIEW %s%s AS %s', v.oid::regclass,
			CASE WHEN v.reloptions IS NULL THEN '' ELSE ' WITH (' || array_to_string(v.reloptions, ', ') || ')' END, pg_get_viewdef(v.oid))
		FROM pg_depend JOIN pg_rewrite AS r ON r.oid = objid JOIN pg_class AS v ON v.oid = ev_class
		WHERE classid = 'pg_rewrite'::regclass AND refclassid = 'pg_class'::regclass AND refobjid = ` + table + ` AND v.relkind = 'v'`

	describeLoosen = `SELECT format('ALTER TABLE %s DROP CONSTRAINT %I', conrelid::regclass, conname)
		FROM pg_constraint WHERE contype = 'f' AND confrelid = ` + table + ` AND conrelid <> confrelid AND conparentid = 0 ORDER BY conname`

	// Index definitions of partitioned tables say ON ONLY, which would leave the partitions out.
	describeKeys = `SELECT text FROM (
		SELECT 1 AS rank, conname AS name, format('ALTER TABLE %s ADD CONSTRAINT %I %s', conrelid::regclass, conname, pg_get_constraintdef(oid)) AS text
		  FROM pg_constraint WHERE conrelid = ` + table + ` AND contype IN ('p', 'u', 'x', 'c', 'f') AND conparentid = 0
		UNION ALL
		SELECT 2, i.relname, replace(pg_get_indexdef(indexrelid), ' ON ONLY ', ' ON ')
		  FROM pg_index JOIN pg_class AS i ON i.oid = indexrelid
		 WHERE indrelid = ` + table + ` AND NOT EXISTS (SELECT 1 FROM pg_constraint WHERE conindid = indexrelid AND contype <> 'f')
		UNION ALL
		SELECT 3, stxname, pg_get_statisticsobjdef(oid) FROM pg_statistic_ext WHERE stxrelid = ` + table + `
		UNION ALL
		SELECT 4, conname, format('ALTER TABLE %s ADD CONSTRAINT %I %s', conrelid::regclass, conname, pg_get_constraintdef(oid))
		  FROM pg_constraint WHERE contype = 'f' AND confrelid = ` + table + ` AND conrelid <> confrelid AND conparentid = 0
		) AS statement ORDER BY rank, name`

	describeTriggers = `SELECT text FROM (
		SELECT 1 AS rank, tgname AS name, pg_get_triggerdef(oid) AS text FROM pg_trigger WHERE tgrelid = ` + table + ` AND NOT tgisinternal
		UNION ALL
		SELECT 2, tgname, format('ALTER TABLE %s %s TRIGGER %I', tgrelid::regclass,
			CASE tgenabled WHEN 'D' THEN 'DISABLE' WHEN 'R' THEN 'ENABLE REPLICA' ELSE 'ENABLE ALWAYS' END, tgname)
		  FROM pg_trigger WHERE tgrelid = ` + table + ` AND NOT tgisinternal AND tgenabled <> 'O'
		) AS statement ORDER BY rank, name`

	describePolicies = `SELECT format('CREATE POLICY %I ON %s AS %s FOR %s TO %s', polname, polrelid::regclass,
			CASE WHEN polpermissive THEN 'PERMISSIVE' ELSE 'RESTRICTIVE' END,
			CASE polcmd WHEN 'r' THEN 'SELECT' WHEN 'a' THEN 'INSERT' WHEN 'w' THEN 'UPDATE' WHEN 'd' THEN 'DELETE' ELSE 'ALL' END,
			(SELECT string_agg(CASE member WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(member)) END, ', ') FROM unnest(polroles) AS member))
			|| coalesce(' USING (' || pg_get_expr(polqual, polrelid) || ')', '')
			|| coalesce(' WITH CHECK (' || pg_get_expr(polwithcheck, polrelid) || ')', '')
		FROM pg_policy WHERE polrelid = ` + table + `
		UNION ALL
		SELECT format('ALTER TABLE %s %s ROW LEVEL SECURITY', oid::regclass, word) FROM pg_class,
			LATERAL (VALUES (relrowsecurity, 'ENABLE'), (relforcerowsecurity, 'FORCE')) AS v (is_set, word)
		WHERE oid = ` + table + ` AND is_set`

	// Nobody has rights but those who had them: default privileges of the role or the
	// schema do not count.
	describeRights = `SELECT text FROM (
		SELECT 1 AS rank, format('GRANT %s ON %s TO %s%s', privilege_type, ` + table + `,
			CASE grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(grantee)) END,
			CASE WHEN is_grantable AND grantee <> relowner THEN ' WITH GRANT OPTION' ELSE '' END) AS text
		  FROM pg_class, aclexplode(coalesce(relacl, acldefault('r', relowner))) WHERE oid = ` + table + `
		UNION ALL
		SELECT 2, format('GRANT %s (%I) ON %s TO %s%s', privilege_type, attname, ` + table + `,
			CASE grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(grantee)) END,
			CASE WHEN is_grantable THEN ' WITH GRANT OPTION' ELSE '' END)
		  FROM pg_attribute, aclexplode(attacl) WHERE attrelid = ` + table + ` AND attnum > 0 AND NOT attisdropped
		) AS statement ORDER BY rank, text`

	// Comments on columns come with the columns.
	describeComments = `SELECT format('COMMENT ON TABLE %s IS %L', ` + table + `, description) FROM pg_description
		 WHERE classoid = 'pg_class'::regclass AND objoid = ` + table + ` AND objsubid = 0
		UNION ALL
		SELECT format('COMMENT ON CONSTRAINT %I ON %s IS %L', conname, ` + table + `, description) FROM pg_constraint
		  JOIN pg_description ON classoid = 'pg_constraint'::regclass AND objoid = oid WHERE conrelid = ` + table + `
		UNION ALL
		SELECT format('COMMENT ON INDEX %s IS %L', indexrelid::regclass, description) FROM pg_index
		  JOIN pg_description ON classoid = 'pg_class'::regclass AND objoid = indexrelid AND objsubid = 0 WHERE indrelid = ` + table + `
		UNION ALL
		SELECT format('COMMENT ON TRIGGER %I ON %s IS %L', tgname, ` + table + `, description) FROM pg_trigger
		  JOIN pg_description ON classoid = 'pg_trigger'::regclass AND objoid = oid WHERE tgrelid = ` + table + ` AND NOT tgisinternal
		UNION ALL
		SELECT format('COMMENT ON POLICY %I ON %s IS %L', polname, ` + table + `, description) FROM pg_policy
		  JOIN pg_description ON classoid = 'pg_policy'::regclass AND objoid = oid WHERE polrelid = ` + table + ``

	describeColumns = `SELECT string_agg(quote_ident(attname), ', ' ORDER BY attnum) FROM pg_attribute
		WHERE attrelid = ` + table + ` AND attnum > 0 AND NOT attisdropped AND attgenerated = ''`

	describeOwner = `SELECT quote_ident(pg_get_userbyid(relowner)) FROM pg_class WHERE oid = ` + table

	// Only tables with rows have options of storage.
	describeStorage = `SELECT coalesce((SELECT ' WITH (' || array_to_string(reloptions, ', ') || ')' FROM pg_class
		WHERE oid = coalesce(to_regclass('` + Rest + `'), ` + table + `)), '')`
)

// describe reads what is on the table.
func describe(ctx context.Context, q querier) (d description, err error) {
	for _, part := range []struct {
		query string
		into  *[]string
	}{
		{describeViews, &d.views}, {describeLoosen, &d.loosen}, {describeRights, &d.restore}, {describeKeys, &d.restore},
		{describeTriggers, &d.restore}, {describePolicies, &d.restore}, {describeComments, &d.restore},
	} {
		list, err := texts(ctx, q, part.query)
		if err != nil {
			return d, wrap("describe the table "+Table, err)
		}
		*part.into = append(*part.into, list...)
	}
	if err := q.QueryRowContext(ctx, describeColumns).Scan(&d.columns); err != nil {
		return d, wrap("read the columns of "+Table, err)
	}
	if err := q.QueryRowContext(ctx, describeOwner).Scan(&d.owner); err != nil {
		return d, wrap("read the owner of "+Table, err)
	}
	err = q.QueryRowContext(ctx, describeStorage).Scan(&d.storage)
	return d, wrap("read the storage of "+Table, err)
}
