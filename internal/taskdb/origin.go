package taskdb

import (
	"time"

	"github.com/nextrun/nextrun/internal/column"
	"github.com/nextrun/nextrun/periodic"
)

// OriginColumns are the columns of periodic_origin.
func OriginColumns() []column.Column[periodic.Origin] {
	return []column.Column[periodic.Origin]{
		{Name: "name", Field: column.TextIn(func(o *periodic.Origin) *string { return &o.Name })},
		{Name: "version", Field: column.In(column.Number, func(o *periodic.Origin) *int64 { return &o.Version },
			func(n int64, v *column.Value) { v.Number = int(n) }, func(v column.Value) int64 { return int64(v.Number) })},
		{Name: "since", Field: column.TimeIn(func(o *periodic.Origin) *time.Time { return &o.Since })},
		{Name: "declared", Field: column.TextIn(func(o *periodic.Origin) *string { return &o.Declared })},
		{Name: "digests", Field: column.TextIn(func(o *periodic.Origin) *string { return &o.Digests })},
	}
}
