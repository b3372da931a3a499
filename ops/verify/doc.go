// Package verify checks on a live database whether nextrun has kept its guarantees: that
// each tick has one job and a record, that marks and leases end, and that events are in
// order. It only reads.
package verify
