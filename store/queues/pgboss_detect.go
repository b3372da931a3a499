package queues

import (
	"context"
	"fmt"
	"slices"

	"github.com/nextrun/nextrun/store/internal/sqldb"
)

// pgBossMinSchema is the schema of pg-boss 12.26.
const pgBossMinSchema = 37

const (
	pgBossInstall = "start pg-boss once with a user that may create tables, or run: npx pg-boss create"
	pgBossUpdate  = "update pg-boss to 12.26 or newer, which migrates its tables when it starts"
)

// detect builds the list of columns from the table, since pg-boss often adds some.
func (k PgBoss) detect(ctx context.Context, tx *sqldb.Tx, r *Report) (*shape, error) {
	version, err := k.version(ctx, tx)
	if err != nil {
		return nil, err
	}
	r.Found = fmt.Sprintf("schema %d", version)
	switch {
	case version == 0:
		r.Found = ""
	case version < pgBossMinSchema:
		r.problem(pgBossUpdate, "pg-boss's tables are at schema %d; nextrun needs %d or newer", version, pgBossMinSchema)
		return nil, nil
	}
	values := k.values()
	jobs := relation{schema: k.Schema, name: "job", rights: []string{"SELECT", "INSERT", "UPDATE"}}
	for _, v := range values {
		jobs.writes = append(jobs.writes, v.column)
	}
	if ok, err := jobs.look(ctx, tx, r, pgBossInstall); err != nil || !ok {
		return nil, err
	}
	queue := relation{schema: k.Schema, name: "queue", rights: []string{"SELECT"}}
	if ok, err := queue.look(ctx, tx, r, pgBossInstall); err != nil || !ok {
		return nil, err
	}
	for _, needed := range []struct {
		relation relation
		columns  []string
	}{
		{jobs, []string{"id", "name", "data", "state", "start_after", "keep_until", "policy", "started_on", "completed_on"}},
		{queue, []string{"name", "policy", "retention_seconds"}},
	} {
		for _, column := range needed.columns {
			if !needed.relation.has(column) {
				r.problem("use pg-boss 12.26 or newer, or a newer version of nextrun", "pg-boss's table %s has no column %s", needed.relation.name, column)
				return nil, nil
			}
		}
	}
	if version == 0 { // this role may not read it
		r.Found = fmt.Sprintf("schema %d or newer", pgBossMinSchema)
	}
	values = slices.DeleteFunc(values, func(v pgBossValue) bool {
		return !jobs.has(v.column) || slices.Contains(pgBossCopied, v.column) && !queue.has(v.column)
	})
	return k.postgres(values, queue.has("notify")), nil
}

// version is that of pg-boss's tables; 0 if this role may not read it, or there are
// none.
func (k PgBoss) version(ctx context.Context, tx *sqldb.Tx) (version int, err error) {
	at := relation{schema: k.Schema, name: "version", rights: []string{"SELECT"}}
	var ignored Report // the right to read it is not needed
	if ok, err := at.look(ctx, tx, &ignored, ""); err != nil || !ok {
		return 0, err
	}
	err = tx.First(ctx, &version, `SELECT coalesce(max(version), 0) FROM `+at.as())
	return version, err
}
