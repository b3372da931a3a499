package web_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/nextrun/nextrun/internal/testkit/network"
	"github.com/nextrun/nextrun/internal/web"
)

// A connection of HTTP/2 that falls silent is dropped after seconds, whatever the limit of the request, and the next request takes
// another one.
func TestConnectionThatFallsSilent(t *testing.T) {
	t.Parallel()
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/long" {
			<-r.Context().Done()
		}
	}))
	server.EnableHTTP2 = true
	server.StartTLS()
	t.Cleanup(server.Close)
	n := network.New(t, server.URL)
	transport := web.NewTransport().(*http.Transport)
	transport.TLSClientConfig = server.Client().Transport.(*http.Transport).TLSClientConfig
	client := http.Client{Transport: transport, Timeout: time.Minute}
	t.Cleanup(client.CloseIdleConnections)
	get := func(path string) (string, error) {
		answer, err := client.Get(n.URL + path)
		if err != nil {
			return "", err
		}
		defer answer.Body.Close()
		_, err = io.Copy(io.Discard, answer.Body)
		return answer.Proto, err
	}
	if proto, err := get("/"); proto != "HTTP/2.0" || err != nil {
		t.Fatalf("%s, %v", proto, err)
	}
	n.Forget()
	began := time.Now()
	if _, err := get("/long"); err == nil {
		t.Error("an answer came over a silent connection")
	}
	if took := time.Since(began); took > 30*time.Second {
		t.Errorf("it took %s", took)
	}
	if _, err := get("/"); err != nil {
		t.Error(err)
	}
}
