// Package verify checks on a live database whether nextrun has kept its guarantees: that
// each tick has one job and a record, that marks and leases end, that events are in order,
// and that the tables are as the migrations made them. It only reads.
package verify
