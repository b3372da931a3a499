package storetest

import (
	"os"
	"strings"
	"testing"
)

// Server is a PostgreSQL server of a test's own, which the test may stop and
// start. Its methods end the test if they fail, so call them from the test's
// goroutine.
type Server struct {
	t      testing.TB
	keeper *keeper
	url    string
}

// PostgresServer starts a server that is removed when the test ends. It ignores
// NEXTRUN_TEST_POSTGRES, because that server may have other users.
// Use it only to stop and start; [PostgresURL] is a second faster.
func PostgresServer(t testing.TB) *Server {
	t.Helper()
	Need(t, Postgres)
	k, err := startKeeper(withoutVariable(os.Environ(), ServerVariable))
	if err != nil {
		t.Fatalf("PostgreSQL server for the test: %v", err)
	}
	t.Cleanup(func() {
		if err := k.close(); err != nil {
			t.Errorf("PostgreSQL server after the test: %v", err)
		}
	})
	_, address, err := createDatabase(k.url, emptyDatabase)
	if err != nil {
		t.Fatalf("PostgreSQL server for the test: %v", err)
	}
	return &Server{t: t, keeper: k, url: address}
}

// URL is the address of an empty database on the server. It stays the same
// when the server is stopped and started.
func (s *Server) URL() string { return s.url }

// Stop ends the server at once, as a crash would: connections break,
// transactions in flight are lost, committed ones are not. It returns when
// connections are refused.
func (s *Server) Stop() {
	s.t.Helper()
	if err := s.keeper.order("stop", "stopped"); err != nil {
		s.t.Fatal(err)
	}
}

// Start starts a stopped server. It returns when connections are accepted.
func (s *Server) Start() {
	s.t.Helper()
	if err := s.keeper.order("start", "started"); err != nil {
		s.t.Fatal(err)
	}
}

func withoutVariable(environment []string, name string) []string {
	kept := make([]string, 0, len(environment))
	for _, entry := range environment {
		if !strings.HasPrefix(entry, name+"=") {
			kept = append(kept, entry)
		}
	}
	return kept
}
