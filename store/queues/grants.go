package queues

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/nextrun/nextrun/internal/foreign"
)

// Grants implements [foreign.Kind].
func (k river) Grants(roles string) []string {
	return grants(k.Schema, roles, "river_job", strings.Join(riverRights, ", "), "SEQUENCE river_job_id_seq", "USAGE")
}

// Grants implements [foreign.Kind].
func (k pgBoss) Grants(roles string) []string {
	return grants(cmp.Or(k.Schema, pgBossSchema), roles, "job", strings.Join(pgBossRights, ", "), "queue", "SELECT", "version", "SELECT")
}

// Grants implements [foreign.Kind]. Rights alone are not enough: row level security hides the
// rows of Graphile Worker's tables.
func (k graphileWorker) Grants(roles string) []string {
	schema, rights, policies := cmp.Or(k.Schema, graphileSchema), []string{"migrations", "SELECT"}, []string(nil)
	for _, table := range slices.Sorted(maps.Keys(graphileRights)) {
		rights = append(rights, table, graphileRights[table])
		if name := foreign.Qualified(schema, table); table != "jobs" {
			policies = append(policies, fmt.Sprintf("DROP POLICY IF EXISTS nextrun_roles ON %s;", name),
				fmt.Sprintf("CREATE POLICY nextrun_roles ON %s TO %s USING (true) WITH CHECK (true);", name, roles))
		}
	}
	return append(grants(schema, roles, rights...), policies...)
}

// Grants implements [foreign.Kind]. Without a name the rights are those on all queues that
// there are when the statements run.
func (k pgmq) Grants(roles string) []string {
	if k.Queue != "" {
		return pgmqQueue{Name: strings.ToLower(k.Queue), Role: roles}.grants()
	}
	each := pgmqQueue{Name: "%1$s", Role: roles}.grants()
	return append(each[:2:2], `DO $$ DECLARE q text; BEGIN FOR q IN SELECT lower(queue_name) FROM pgmq.meta WHERE queue_name ~* '^[a-z_][a-z0-9_-]*$' LOOP
  EXECUTE format('`+each[2]+` `+each[3]+`', q);
END LOOP; END $$;`)
}

// Grants implements [foreign.Kind]: nobody knows the tables of statements.
func (sqlQueue) Grants(string) []string { return nil }

// grants gives rights, in pairs of a table and what roles may do with it.
func grants(schema, roles string, rights ...string) (list []string) {
	if schema != "" {
		list = append(list, fmt.Sprintf("GRANT USAGE ON SCHEMA %s TO %s;", foreign.Quote(schema), roles))
	}
	for pair := range slices.Chunk(rights, 2) {
		name, isSequence := strings.CutPrefix(pair[0], "SEQUENCE ")
		if name = foreign.Qualified(schema, name); isSequence {
			name = "SEQUENCE " + name
		}
		list = append(list, fmt.Sprintf("GRANT %s ON %s TO %s;", pair[1], name, roles))
	}
	return list
}
