package service

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/sirupsen/logrus"

	"github.com/nextrun/nextrun/cmd/nextrun/cli/ui"
)

// healthPath is where a process reports its health.
const healthPath = "/healthz"

// healthTimeout limits a health report, which may have to wait for the database.
const healthTimeout = 5 * time.Second

// healthReport is the answer at [healthPath].
type healthReport struct {
	Healthy bool          `json:"healthy"` // all is up, and neither starting nor stopping
	Stages  []stageHealth `json:"stages"`
}

// healthAddress is where the process reports its health; empty: nowhere. Only
// this host may ask, since no credentials are needed.
func healthAddress(env *ui.Env, flag string) (string, error) {
	address := env.Setting(flag, "NEXTRUN_HEALTH", "")
	if address == "" {
		return "", nil
	}
	host, port, err := net.SplitHostPort(address)
	if host == "localhost" {
		host = "127.0.0.1"
	}
	if ip := net.ParseIP(host); err != nil || port == "" || ip == nil || !ip.IsLoopback() {
		return "", ui.Usagef("--health or NEXTRUN_HEALTH is %q; use a loopback address with a port, such as 127.0.0.1:8321: "+
			"whoever reaches it may read it", address)
	}
	return net.JoinHostPort(host, port), nil
}

// healthStage serves the health of all stages, from the first one on to the end.
func (s *services) healthStage(flag string) stage {
	var server *http.Server
	served := make(chan struct{})
	return stage{
		name: stageHealthServer, needs: []string{stageConfiguration},
		up: func(ctx context.Context) error {
			address, err := healthAddress(s.env, flag)
			if err != nil || address == "" {
				return err
			}
			listener, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
			if err != nil {
				return err
			}
			server = &http.Server{
				Handler: s.healthHandler(), ReadHeaderTimeout: healthTimeout, ReadTimeout: healthTimeout,
				WriteTimeout: 2 * healthTimeout, IdleTimeout: healthTimeout, MaxHeaderBytes: 16 << 10,
			}
			go func() {
				defer close(served)
				_ = server.Serve(listener) // ends with the stage
			}()
			s.log.WithFields(logrus.Fields{"address": listener.Addr().String(), "path": healthPath}).Info("health endpoint listening")
			return nil
		},
		down: func(ctx context.Context) error {
			if server == nil {
				return nil
			}
			ctx, cancel := context.WithTimeout(ctx, healthTimeout)
			defer cancel()
			if server.Shutdown(ctx) != nil {
				_ = server.Close() // cuts off whoever still asks
			}
			<-served
			return nil
		},
	}
}

// healthHandler answers with a [healthReport]: 200 if all is well, else 503.
func (s *services) healthHandler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+healthPath, func(w http.ResponseWriter, r *http.Request) {
		if !isLoopback(r.Host) {
			http.Error(w, "ask by the address, such as 127.0.0.1, or as localhost", http.StatusMisdirectedRequest)
			return
		}
		ctx, cancel := context.WithTimeout(r.Context(), healthTimeout)
		defer cancel()
		report := s.healthReport(ctx)
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
	ip := net.ParseIP(strings.Trim(host, "[]"))
	return strings.EqualFold(host, "localhost") || ip.IsLoopback()
}

func (s *services) healthReport(ctx context.Context) healthReport {
	report := healthReport{Healthy: s.started.Load(), Stages: s.stages.health(ctx)}
	for _, one := range report.Stages {
		report.Healthy = report.Healthy && one.State == stateUp
	}
	return report
}

// askHealth asks a process at its health address.
func askHealth(ctx context.Context, address string) (healthReport, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*healthTimeout)
	defer cancel()
	var report healthReport
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+healthPath, http.NoBody)
	if err != nil {
		return report, err
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	answer, err := client.Do(request)
	if err != nil {
		return report, err
	}
	defer answer.Body.Close() //nolint:errcheck // it was only read
	if err := json.NewDecoder(answer.Body).Decode(&report); err != nil {
		return report, errors.New("the answer does not come from nextrun: " + answer.Status)
	}
	return report, nil
}
