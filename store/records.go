package store

import (
	"encoding/json"
	"fmt"
	"time"
)

// records are rows handed to the database as one parameter, so that a
// statement has the same text and the same number of parameters whatever the
// number of rows. Use sql as a table expression in FROM and give param for the
// placeholder it was made for.
type records struct {
	sql   string
	param string
}

// newRecords makes the records of n rows; row i has the values that values(i)
// returns, in the order of the columns. Zero times and nil are NULL.
func (db *DB) newRecords(placeholder int, columns []field, n int, values func(i int) []any) (records, error) {
	rows := make([][]any, n)
	for i := range rows {
		row := values(i)
		for j, v := range row {
			switch v := v.(type) {
			case time.Time:
				if row[j] = nil; !v.IsZero() {
					row[j] = Timestamp(v).String()
				}
			case string:
				if columns[j].kind == fieldText {
					row[j] = db.dialect.encode(v)
				}
			}
		}
		rows[i] = row
	}
	param, err := json.Marshal(rows)
	if err != nil {
		return records{}, fmt.Errorf("encode rows: %w", err)
	}
	return records{sql: db.dialect.records(placeholder, columns), param: string(param)}, nil
}

// nullable returns nil for an empty text, which records write as NULL.
func nullable(text string) any {
	if text == "" {
		return nil
	}
	return text
}
