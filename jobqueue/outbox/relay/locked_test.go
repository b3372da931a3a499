package relay_test

import (
	"testing"
)

// An open transaction in psql holds up the topic whose rows it has locked, and
// no other.
func TestOpenTransactionHoldsUpItsTopicOnly(t *testing.T) {
	t.Parallel()
	for name, statement := range map[string]string{
		"topic that is new":  `INSERT INTO outbox_topic (topic, strict) VALUES ('a', true)`,
		"offset that is new": `INSERT INTO event_offset (group_, topic) VALUES ('g', 'a')`,
		"positions":          `INSERT INTO event_topic (topic) VALUES ('a')`,
		"event":              `DELETE FROM event_store WHERE topic = 'a'`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newPostgres(t)
			a := f.append(events("a", 3)...)
			if name == "event" {
				f.exec(`DELETE FROM outbox_message`)
			}
			open, err := f.SQL.BeginTx(f.Context(), nil)
			if err != nil {
				f.Fatal(err)
			}
			defer open.Rollback()
			if _, err := open.Exec(statement); err != nil {
				f.Fatal(err)
			}
			b := f.append(events("b", 3)...)
			relayed, consumed := newReceiver(), newReceiver()
			f.relay(relayed.publisher(), f.quick("one"))
			f.consumer("g", consumed.receive, f.quick("one"))
			f.awaitOne("0", `SELECT count(*) FROM outbox_message WHERE topic = 'b' AND published IS NULL`)
			f.awaitOne("3", `SELECT max(position) FROM event_offset WHERE group_ = 'g' AND topic = 'b'`)
			if err := open.Rollback(); err != nil {
				f.Fatal(err)
			}
			consumed.await(f, len(a)+len(b))
			consumed.check(f, append(a, b...))
		})
	}
}
