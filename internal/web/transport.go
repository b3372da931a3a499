package web

import (
	"errors"
	"net/http"
	"time"
)

// silence is how long nothing may come on a connection of HTTP/2 before it is asked for an answer, and how long that may take.
// A connection of HTTP/1 ends with the request that times out. One of HTTP/2 goes on to serve requests, for a quarter of an hour.
const silence = 5 * time.Second

// NewTransport returns a copy of http.DefaultTransport on which silence is an error. It keeps as many idle connections to one
// host as the copied one keeps in all. If the program has replaced http.DefaultTransport, NewTransport returns that.
func NewTransport() http.RoundTripper {
	t, is := http.DefaultTransport.(*http.Transport)
	if !is {
		return http.DefaultTransport
	}
	t = t.Clone()
	t.HTTP2 = &http.HTTP2Config{SendPingTimeout: silence, PingTimeout: silence}
	t.MaxIdleConnsPerHost = t.MaxIdleConns
	return t
}

// Do makes a call. An answer that switches protocols is an error: no limit of the request ends the reading of what follows.
func Do(c *http.Client, r *http.Request) (*http.Response, error) {
	answer, err := c.Do(r) //nolint:gosec // the configuration names the URL
	if err == nil && answer.StatusCode == http.StatusSwitchingProtocols {
		_ = answer.Body.Close()
		return nil, errors.New("answered " + answer.Status + ", which was not asked for")
	}
	return answer, err
}
