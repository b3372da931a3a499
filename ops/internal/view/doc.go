// Package view reads what commands, pages and metrics show. Whoever shows a run shows a [Run], and whoever says how a
// task is doing says its [Status]. Figures are read in one short transaction, and cost the same
// whatever the size of the tables.
package view
