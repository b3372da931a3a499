package postgres

import (
	"context"
	"database/sql"
	"os"
	"runtime"
	"testing"
	"time"

	"github.com/lib/pq"

	server "github.com/nextrun/nextrun/store/internal/postgres"
)

// Who listens ends also while many changes are told: an answer that is waited for comes behind them.
func TestListenerEndsAmongManyNotifications(t *testing.T) {
	t.Parallel()
	url := os.Getenv("NEXTRUN_TEST_POSTGRES")
	if url == "" {
		t.Skip("NEXTRUN_TEST_POSTGRES names no server")
	}
	pool, err := sql.Open("postgres", url)
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	listener := pq.NewListener(url, time.Second, time.Second, nil)
	defer listener.Close()
	if err := listener.Listen("nextrun_listen_test"); err != nil {
		t.Fatal(err)
	}
	const many = "SELECT count(pg_notify('nextrun_listen_test', n::text)) FROM generate_series(1, 10000) AS n"
	if _, err := pool.ExecContext(t.Context(), many); err != nil {
		t.Fatal(err)
	}
	for len(listener.Notify) < cap(listener.Notify) {
		runtime.Gosched()
	}
	answered := make(chan error, 1)
	go func() { answered <- listener.Ping() }()
	ended, end := context.WithCancel(t.Context())
	end()
	hear(ended, listener, server.Listener{Heard: func() {}, Made: func() {}})
	select {
	case <-answered:
	case <-time.After(time.Minute):
		t.Fatal("the ping is not answered")
	}
}
