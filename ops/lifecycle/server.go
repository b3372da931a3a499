package lifecycle

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/nextrun/nextrun/internal/web"
)

// HealthPath is where a process reports its health.
const HealthPath = "/healthz"

// healthTimeout limits a health report, which may have to wait for the database: probes wait for five seconds.
const healthTimeout = 4 * time.Second

// healthHandler answers GET [HealthPath] with a [Report] in JSON: 200 if all is well,
// else 503. It answers only requests to this host's own names.
func (p *Process) healthHandler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+HealthPath, func(w http.ResponseWriter, r *http.Request) {
		if !isLoopback(r.Host) {
			http.Error(w, "ask by the address, such as 127.0.0.1, or as localhost", http.StatusMisdirectedRequest)
			return
		}
		report := p.Health(r.Context())
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Cache-Control", "no-store")
		if !report.Healthy {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
		_ = json.NewEncoder(w).Encode(report) // whoever asked is gone
	})
	return mux
}

// isLoopback reports whether the header Host names this host. Any other name is
// that of a web page that had a browser ask here (DNS rebinding).
func isLoopback(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	return strings.EqualFold(host, "localhost") || net.ParseIP(strings.Trim(host, "[]")).IsLoopback()
}

// LoopbackAddress returns a loopback address with a port, with 127.0.0.1 for localhost.
// Any other address is an error: no credentials are asked for there.
func LoopbackAddress(address string) (string, error) {
	host, port, err := net.SplitHostPort(address)
	if host == "localhost" {
		host = "127.0.0.1"
	}
	if ip := net.ParseIP(host); err != nil || port == "" || ip == nil || !ip.IsLoopback() {
		return "", fmt.Errorf("%q is no loopback address with a port, such as 127.0.0.1:8321", address)
	}
	return net.JoinHostPort(host, port), nil
}

// askTimeout limits a question about health: a process that runs answers within healthTimeout.
const askTimeout = healthTimeout + time.Second

// AskHealth asks the process at a health address.
func AskHealth(asking context.Context, address string) (Report, error) {
	ctx, cancel := context.WithTimeout(asking, askTimeout)
	defer cancel()
	var report Report
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+HealthPath, http.NoBody)
	if err != nil {
		return report, err
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	answer, err := web.Do(client, request)
	if errors.Is(err, context.DeadlineExceeded) && asking.Err() == nil {
		return report, fmt.Errorf("the process has not answered for %s: it is stopped or stuck", askTimeout)
	}
	if err != nil {
		return report, err
	}
	defer answer.Body.Close() //nolint:errcheck // it was only read
	if err := json.NewDecoder(answer.Body).Decode(&report); err != nil {
		return report, errors.New("the answer does not come from nextrun: " + answer.Status)
	}
	return report, nil
}
