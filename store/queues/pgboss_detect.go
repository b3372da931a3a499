package queues

import (
	"context"
	"fmt"
	"slices"

	"github.com/nextrun/nextrun/internal/foreign"
	"github.com/nextrun/nextrun/internal/sqldb"
)

var pgBossRights = []string{"SELECT", "INSERT", "UPDATE"}

// pgBossMinSchema is the schema of pg-boss 12.26.
const pgBossMinSchema = 37

const (
	pgBossInstall = "start pg-boss once with a user that may create tables, or run: npx pg-boss create"
	pgBossUpdate  = "update pg-boss to 12.26 or newer, which migrates its tables when it starts"
)

// detect builds the list of columns from the table, since pg-boss often adds some.
func (k pgBoss) detect(ctx context.Context, tx *sqldb.Tx, r *foreign.Inspection) (*foreign.Shape, error) {
	version, err := k.version(ctx, tx)
	if err != nil {
		return nil, err
	}
	r.Found = fmt.Sprintf("schema %d", version)
	switch {
	case version == 0:
		r.Found = ""
	case version < pgBossMinSchema:
		r.Problem(pgBossUpdate, "pg-boss's tables are at schema %d; nextrun needs %d or newer", version, pgBossMinSchema)
		return nil, nil
	}
	values := k.values()
	jobs := foreign.Relation{Schema: k.Schema, Name: "job", Rights: pgBossRights}
	for _, v := range values {
		jobs.Writes = append(jobs.Writes, v.column)
	}
	if ok, err := jobs.Look(ctx, tx, r, pgBossInstall); err != nil || !ok {
		return nil, err
	}
	queue := foreign.Relation{Schema: k.Schema, Name: "queue", Rights: []string{"SELECT"}}
	if ok, err := queue.Look(ctx, tx, r, pgBossInstall); err != nil || !ok {
		return nil, err
	}
	for _, needed := range []struct {
		relation foreign.Relation
		columns  []string
	}{
		{jobs, []string{"id", "name", "data", "state", "start_after", "keep_until", "policy", "started_on", "completed_on"}},
		{queue, []string{"name", "policy", "retention_seconds"}},
	} {
		for _, column := range needed.columns {
			if !needed.relation.Has(column) {
				r.Problem("use pg-boss 12.26 or newer, or a newer version of nextrun", "pg-boss's table %s has no column %s", needed.relation.Name, column)
				return nil, nil
			}
		}
	}
	if version == 0 { // this role may not read it
		r.Found = fmt.Sprintf("schema %d or newer", pgBossMinSchema)
	}
	values = slices.DeleteFunc(values, func(v pgBossValue) bool {
		return !jobs.Has(v.column) || slices.Contains(pgBossCopied, v.column) && !queue.Has(v.column)
	})
	return k.postgres(values, queue.Has("notify")), nil
}

// version is that of pg-boss's tables; 0 if this role may not read it, or there are
// none.
func (k pgBoss) version(ctx context.Context, tx *sqldb.Tx) (version int, err error) {
	at := foreign.Relation{Schema: k.Schema, Name: "version", Rights: []string{"SELECT"}}
	var ignored foreign.Inspection // the right to read it is not needed
	if ok, err := at.Look(ctx, tx, &ignored, ""); err != nil || !ok {
		return 0, err
	}
	err = tx.First(ctx, &version, `SELECT coalesce(max(version), 0) FROM `+at.As())
	return version, err
}
