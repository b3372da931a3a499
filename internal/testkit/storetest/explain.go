package storetest

import (
	"context"
	"database/sql"
	"slices"
	"strings"

	"github.com/nextrun/nextrun/jobqueue"
)

// Explainer explains queries before it runs them: with the prefix Explain, such
// as "EXPLAIN QUERY PLAN ". It appends the lines of each plan to Plans.
type Explainer struct {
	jobqueue.DBTX
	Explain string
	Plans   *[][]string
}

// QueryContext implements [jobqueue.DBTX].
func (e Explainer) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	rows, err := e.DBTX.QueryContext(ctx, e.Explain+query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close() //nolint:errcheck // reading; Err tells
	columns, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	var lines []string
	for rows.Next() {
		values := make([]any, len(columns))
		for i := range values {
			values[i] = new(string)
		}
		if err := rows.Scan(values...); err != nil {
			return nil, err
		}
		lines = append(lines, *values[len(values)-1].(*string))
	}
	*e.Plans = append(*e.Plans, lines)
	if err := rows.Err(); err != nil {
		return nil, err
	}
	return e.DBTX.QueryContext(ctx, query, args...) //nolint:sqlclosecheck // the caller does
}

// PlanNode is a node of PostgreSQL's plan as JSON.
type PlanNode struct {
	Relation string     `json:"Relation Name"`
	Alias    string     `json:"Alias"`
	Type     string     `json:"Node Type"`
	Rows     float64    `json:"Actual Rows"`
	Loops    float64    `json:"Actual Loops"`
	Filtered float64    `json:"Rows Removed by Filter"`
	Plans    []PlanNode `json:"Plans"`
}

// Read is the number of rows of tables, or aliases, that the node and those below
// it read.
func (n PlanNode) Read(tables ...string) float64 {
	sum := 0.0
	if (slices.Contains(tables, n.Relation) || slices.Contains(tables, n.Alias)) && strings.Contains(n.Type, "Scan") {
		sum = (n.Rows + n.Filtered) * n.Loops
	}
	for _, below := range n.Plans {
		sum += below.Read(tables...)
	}
	return sum
}
