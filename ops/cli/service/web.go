package service

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"

	"github.com/spf13/cobra"

	"github.com/nextrun/nextrun/internal/web"
	"github.com/nextrun/nextrun/ops/cli/ui"
	"github.com/nextrun/nextrun/ops/dashboard"
	"github.com/nextrun/nextrun/ops/lifecycle"
	"github.com/nextrun/nextrun/ops/metrics"
	"github.com/nextrun/nextrun/store"
)

// webFlags are the flags of what a service shows.
type webFlags struct {
	metrics   string
	dashboard string // its address
	users     string
	header    string
	proxies   []string
	hosts     []string
	prefix    string
	acts      bool
}

func (f *webFlags) register(command *cobra.Command) {
	flags := command.Flags()
	flags.StringVar(&f.metrics, "metrics", "",
		"`address`, such as :9310, where GET /metrics shows Prometheus what this process does, and /healthz its health (NEXTRUN_METRICS)")
	flags.StringVar(&f.dashboard, "dashboard", "", "`address`, such as 127.0.0.1:8320, of the dashboard (NEXTRUN_DASHBOARD)")
	flags.StringVar(&f.users, "dashboard-users", "", "`file` of who may see the dashboard: a line NAME:HASH each, as htpasswd -B writes them")
	flags.StringVar(&f.header, "dashboard-user-header", "", "`name` of the header in which a proxy says who asks; with --dashboard-proxy")
	flags.StringSliceVar(&f.proxies, "dashboard-proxy", nil, "`network`, such as 10.0.0.0/8, of proxies: only from there --dashboard-user-header is believed, and X-Forwarded-For where logins fail")
	flags.StringSliceVar(&f.hosts, "dashboard-host", nil, "`name` by which browsers reach the dashboard; other names are refused")
	flags.StringVar(&f.prefix, "dashboard-prefix", "", "`path`, such as /schedules, below which browsers reach the dashboard through a proxy")
	flags.BoolVar(&f.acts, "dashboard-actions", false, "let people add, edit, pause, resume and run tasks, cancel jobs and resend events; else they only read")
}

// makeServers makes the servers that the flags ask for, with a standard address of the dashboard. They start first and end
// last.
func (s *services) makeServers(ctx context.Context, f *webFlags, standard string) error {
	if address := s.env.Setting(f.metrics, "NEXTRUN_METRICS", ""); address != "" {
		if _, _, err := net.SplitHostPort(address); err != nil {
			return ui.Usagef("--metrics or NEXTRUN_METRICS is %q; use an address with a port, such as :9310", address)
		}
		s.metrics = metrics.New(metrics.Options{Version: s.env.Version, Revision: s.env.Revision, LogLost: s.lines.Lost,
			Healthy: func() bool { return s.process.Health(context.Background()).Healthy }})
		s.metrics.Watch(s.db)
		s.parts = append(s.parts, part{stageMetrics, web.NewServer(stageMetrics, address, s.metricsHandler(), s.log)})
	}
	f.dashboard = s.env.Setting(f.dashboard, "NEXTRUN_DASHBOARD", standard)
	if f.dashboard == "" {
		return nil
	}
	options, err := f.options(s.log)
	if err != nil {
		return err
	}
	pages, err := s.dashboard(ctx, options)
	return s.add(stageDashboard, web.NewServer(stageDashboard, f.dashboard, pages, s.log), err)
}

// metricsHandler shows metrics and health, without what only this host may read.
func (s *services) metricsHandler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", s.metrics.Handler())
	mux.HandleFunc("GET "+lifecycle.HealthPath, func(w http.ResponseWriter, r *http.Request) {
		if !s.process.Health(r.Context()).Healthy {
			http.Error(w, "unhealthy", http.StatusServiceUnavailable)
			return
		}
		_, _ = fmt.Fprintln(w, "healthy") // whoever asked is gone
	})
	return mux
}

// dashboardConns is how many connections pages may use.
const dashboardConns = 2

// dashboard are the pages, with a small pool of connections of their own.
func (s *services) dashboard(ctx context.Context, o dashboard.Options) (http.Handler, error) {
	small := s.config.Database
	small.MaxConns, small.Create = dashboardConns, false
	url, err := s.env.DatabaseURL()
	if err != nil {
		return nil, err
	}
	db, err := store.Open(ctx, url, small)
	if err != nil {
		return nil, err
	}
	s.closing = append(s.closing, func() { _ = db.Close() }) // nothing was left to write
	o.Logger = s.log
	if o.Queues, err = s.config.BuildQueues(db); err != nil {
		return nil, err
	}
	return dashboard.Handler(db, o)
}

// loginFailed logs failed logins of the dashboard.
func loginFailed(log *slog.Logger) func(string, netip.Addr, int) {
	return func(user string, address netip.Addr, others int) {
		fields := []any{"address", address.String()}
		if user != "" {
			fields = append(fields, "user", user)
		}
		if others > 0 {
			fields = append(fields, "others", others)
		}
		log.Warn("dashboard: login failed", fields...)
	}
}

// options are those of the dashboard. Without users it must stay on this host.
func (f *webFlags) options(log *slog.Logger) (o dashboard.Options, err error) {
	access := dashboard.Read
	if f.acts {
		access = dashboard.Act
	}
	o.Hosts, o.Prefix = f.hosts, f.prefix
	var proxies []netip.Prefix
	for _, text := range f.proxies {
		network, err := netip.ParsePrefix(text)
		if err != nil {
			return o, ui.Usagef("--dashboard-proxy is %q; use a network, such as 10.0.0.0/8 or 127.0.0.1/32", text)
		}
		proxies = append(proxies, network)
	}
	switch {
	case f.users != "" && f.header != "":
		return o, ui.Usagef("--dashboard-users and --dashboard-user-header exclude each other")
	case f.users != "":
		logins := dashboard.Logins{Proxies: proxies, Failed: loginFailed(log), Replaced: func(err error) {
			if log := log.With("file", f.users); err != nil {
				log.Error("dashboard: the new file of users cannot be used; those of the old one stay", "error", err)
			} else {
				log.Info("dashboard: the file of users was read again")
			}
		}}
		if o.Authorize, err = dashboard.Passwords(f.users, access, logins); err != nil {
			return o, fmt.Errorf("--dashboard-users %s: %w", f.users, err)
		}
	case f.header != "":
		if len(proxies) == 0 {
			return o, ui.Usagef("--dashboard-user-header needs --dashboard-proxy NETWORK: anybody else could claim to be anybody")
		}
		o.Authorize = dashboard.Header(f.header, proxies, access)
	default:
		if f.dashboard, err = lifecycle.LoopbackAddress(f.dashboard); err != nil {
			return o, ui.Usagef("--dashboard: %v; for another address say who may see it, with --dashboard-users or --dashboard-user-header", err)
		}
		if f.acts {
			o.Authorize = func(*http.Request) (string, dashboard.Access) { return "", access }
			if len(o.Hosts) == 0 {
				o.Hosts = []string{"localhost", "127.0.0.1", "::1"}
			}
		}
	}
	return o, nil
}
