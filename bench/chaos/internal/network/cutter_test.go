package network

import "testing"

func TestCommitsAreSeen(t *testing.T) {
	for text, want := range map[string]bool{
		"Q\x00\x00\x00\x0bcommit\x00": true, "Q\x00\x00\x00\x0bCOMMIT\x00": true, "Q\x00\x00\x00\x0arollback\x00": false, "X": false,
		"P\x00\x00\x00\x0bcommit\x00": false,
	} {
		if isCommit([]byte(text)) != want {
			t.Errorf("isCommit(%q) = %v", text, !want)
		}
	}
}
