package web

import (
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

// Connections that say nothing, or only begin to, keep nobody out and do not fill the memory: the oldest are closed.
func TestSilentConnectionsKeepNobodyOut(t *testing.T) {
	t.Parallel()
	server := httptest.NewUnstartedServer(nil)
	server.Config = NewServer("test", "", http.NotFoundHandler(), slog.New(slog.DiscardHandler)).server
	server.Start()
	defer server.Close()
	silent := make([]net.Conn, mostConns+20)
	for i := range silent {
		c, err := net.Dial("tcp", server.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		if silent[i] = c; i%2 == 0 {
			_, _ = c.Write([]byte("GET / HTTP/1.1\r\nHost: x\r\nX-Long:"))
		}
	}
	answer, err := server.Client().Get(server.URL) //nolint:noctx // of this process
	if err != nil {
		t.Fatal(err)
	}
	_ = answer.Body.Close()
	_ = silent[0].SetReadDeadline(time.Now().Add(serverTimeout / 2)) // less than a header may take
	_, err = silent[0].Read(make([]byte, 1))
	if late := net.Error(nil); err == nil || errors.As(err, &late) && late.Timeout() {
		t.Errorf("the oldest connection stays open: %v", err)
	}
}
