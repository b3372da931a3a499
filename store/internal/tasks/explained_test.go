package tasks

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"strings"

	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/jobqueue"
)

// explained explains each statement before it runs.
type explained struct {
	jobqueue.DBTX
	explain string
	check   func(query string, plan []string)
}

func (e explained) plan(ctx context.Context, query string, args []any) error {
	if sqldb.Keeps(ctx) > 0 {
		if err := e.keptPlan(ctx, query, args); err != nil {
			return err
		}
	}
	rows, err := e.DBTX.QueryContext(ctx, e.explain+query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return err
	}
	var lines []string
	for rows.Next() {
		values := make([]any, len(columns))
		for i := range values {
			values[i] = new(string)
		}
		if err := rows.Scan(values...); err != nil {
			return err
		}
		lines = append(lines, *values[len(values)-1].(*string))
	}
	e.check(query, lines)
	return rows.Err()
}

// keptPlan explains the plan that does not depend on the parameters.
func (e explained) keptPlan(ctx context.Context, query string, args []any) error {
	values := make([]string, len(args))
	for i, arg := range args {
		value, err := driver.DefaultParameterConverter.ConvertValue(arg)
		if err != nil {
			return err
		}
		values[i] = "'" + strings.ReplaceAll(fmt.Sprint(value), "'", "''") + "'"
	}
	for _, statement := range []string{"SET LOCAL plan_cache_mode = force_generic_plan", "PREPARE kept AS " + query} {
		if _, err := e.DBTX.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	plain := explained{e.DBTX, e.explain, e.check}
	if err := plain.plan(context.Background(), "EXECUTE kept ("+strings.Join(values, ", ")+")", nil); err != nil {
		return err
	}
	for _, statement := range []string{"DEALLOCATE kept", "SET LOCAL plan_cache_mode = auto"} {
		if _, err := e.DBTX.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	return nil
}

// QueryContext implements [jobqueue.DBTX].
func (e explained) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	if err := e.plan(ctx, query, args); err != nil {
		return nil, err
	}
	return e.DBTX.QueryContext(ctx, query, args...)
}

// ExecContext implements [jobqueue.DBTX].
func (e explained) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	if strings.HasPrefix(query, "SET ") {
		return e.DBTX.ExecContext(ctx, query, args...)
	}
	if err := e.plan(ctx, query, args); err != nil {
		return nil, err
	}
	return e.DBTX.ExecContext(ctx, query, args...)
}
