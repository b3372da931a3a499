package relay_test

import (
	"strings"
	"testing"
)

// An open transaction in psql holds up the topic whose rows it has locked, and
// no other.
func TestOpenTransactionHoldsUpItsTopicOnly(t *testing.T) {
	t.Parallel()
	for name, statement := range map[string]string{
		"lease":   strings.ReplaceAll(insertLease, "TOPIC", "a"),
		"message": `SELECT 1 FROM outbox_message WHERE topic = 'a' FOR UPDATE`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newPostgres(t)
			a := f.append(events("a", 3)...)
			end := lock(f, statement)
			b := f.append(events("b", 3)...)
			r := newReceiver()
			f.relay(r.publisher(), f.quick("one"))
			f.awaitOne("0", `SELECT count(*) FROM outbox_message WHERE topic = 'b' AND published IS NULL`)
			f.want(3, `SELECT count(*) FROM outbox_message WHERE topic = 'a' AND published IS NULL`)
			end()
			f.append(events("after", 1)...) // has it look again
			r.await(f, len(a)+len(b)+1)
			f.awaitOne("0", `SELECT count(*) FROM outbox_message WHERE published IS NULL`)
		})
	}
}
