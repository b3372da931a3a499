package config

import (
	"fmt"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/nextrun/nextrun/internal/sqldb"
	"github.com/nextrun/nextrun/jobqueue/executor"
	"github.com/nextrun/nextrun/jobqueue/handlers"
	"github.com/nextrun/nextrun/jobqueue/outbox/relay"
	"github.com/nextrun/nextrun/periodic/leader"
	"github.com/nextrun/nextrun/periodic/scheduler"
	"github.com/nextrun/nextrun/store"
)

// commented finds keys that are commented out; sentences begin with a capital.
var commented = regexp.MustCompile(`(?m)^( *)# ( *["a-z_*]+:)`)

func readSample(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../testdata/nextrun.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// The sample is good as it is, and says the truth of what is commented out: it
// is what holds by default.
func TestSampleConfiguration(t *testing.T) {
	t.Parallel()
	text := readSample(t)
	plain, err := parse("nextrun.yaml", []byte(text), noEnv)
	if err != nil {
		t.Fatal(err)
	}
	if len(plain.Handlers) < 5 || len(plain.Relay.Topics) > 0 {
		t.Errorf("the sample as it is has handlers %v and topics %v", plain.Handlers, plain.Relay.Topics)
	}
	all, err := parse("nextrun.yaml", []byte(commented.ReplaceAllString(text, "$1$2")), noEnv)
	if err != nil {
		t.Fatal(err)
	}
	check := func(section string, got, want any) {
		if !reflect.DeepEqual(got, want) {
			t.Errorf("section %s: the sample says\n%+v, the defaults are\n%+v", section, got, want)
		}
	}
	for _, said := range []string{ // of what the sample itself sets to others
		"retry_delay: 2s            # default " + executor.DefaultRetryDelay.String(),
		fmt.Sprintf("retry_limit: 1             # default %d;", executor.DefaultRetryLimit),
	} {
		if !strings.Contains(text, said) {
			t.Errorf("the sample does not say %q", said)
		}
	}
	check("database", all.Database, store.Options{
		ConnectTimeout: sqldb.DefaultConnectTimeout, StatementTimeout: sqldb.DefaultStatementTimeout,
		LockTimeout: sqldb.DefaultLockTimeout, IdleTimeout: sqldb.DefaultIdleTimeout, MaxConns: sqldb.DefaultMaxConns,
	})
	check("scheduler", all.Scheduler, scheduler.Config{
		BatchSize: scheduler.DefaultBatchSize, Lease: scheduler.DefaultLease, Lead: scheduler.DefaultLead, PollInterval: scheduler.DefaultPollInterval,
		Retention: scheduler.Retention{}.WithDefaults(),
		Lock:      scheduler.LockConfig{Name: leader.DefaultLock, TTL: leader.DefaultTTL, Heartbeat: leader.DefaultHeartbeat},
	})
	check("executor", all.Executor, executor.Config{
		PoolSize: executor.DefaultPoolSize, Groups: []string{"default"}, High: executor.DefaultHigh, Low: executor.DefaultLow,
		PollInterval: scheduler.DefaultPollInterval,
		RetryDelay:   plain.Executor.RetryDelay, RetryLimit: plain.Executor.RetryLimit, RetryCap: executor.DefaultRetryCap,
		MaxInterrupts: executor.DefaultMaxInterrupts, ShutdownGrace: executor.DefaultShutdownGrace,
	})
	check("relay", all.Relay.Config, relay.Config{
		Concurrency: relay.DefaultConcurrency, BatchSize: relay.DefaultBatchSize,
		Lease: scheduler.DefaultLease, PollInterval: scheduler.DefaultPollInterval, RetryMin: relay.DefaultRetryMin,
		RetryMax: relay.DefaultRetryMax, RefusalLimits: map[string]int{"*": 0, "billing": relay.DefaultRefusalLimit},
	})
	cat, webhook := all.Handlers["cat"].Command, all.Handlers["webhook"].HTTP
	if cat.KillGrace != handlers.DefaultKillGrace || cat.MaxOutput != handlers.DefaultMaxOutput || webhook.Timeout != handlers.DefaultTimeout {
		t.Errorf("the defaults of handlers differ: %+v, %+v", cat, webhook)
	}
}
