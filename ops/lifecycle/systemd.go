package lifecycle

import (
	"context"
	"net"
	"os"
	"strconv"
	"sync"
	"time"
)

// tellSystemd sends a state to the service manager, as sd_notify(3) does. Without
// NOTIFY_SOCKET there is none.
func (p *Process) tellSystemd(state string) {
	if err := sdNotify(os.Getenv("NOTIFY_SOCKET"), state); err != nil {
		p.cfg.Logger.WithError(err).WithField("state", state).Warn("systemd could not be told the state of this process")
	}
}

func sdNotify(socket, state string) error {
	if socket == "" {
		return nil
	}
	conn, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: socket, Net: "unixgram"})
	if err != nil {
		return err
	}
	defer conn.Close() //nolint:errcheck // a datagram is sent whole or not at all
	_, err = conn.Write([]byte(state))
	return err
}

// watchdogInterval is how often systemd wants to hear of this process: half of
// WatchdogSec=, as sd_watchdog_enabled(3) recommends; 0: never.
func watchdogInterval(getenv func(string) string) time.Duration {
	if pid := getenv("WATCHDOG_PID"); pid != "" && pid != strconv.Itoa(os.Getpid()) {
		return 0
	}
	micros, err := strconv.ParseInt(getenv("WATCHDOG_USEC"), 10, 64)
	if err != nil || micros <= 0 {
		return 0
	}
	return time.Duration(micros) * time.Microsecond / 2
}

// watchdog tells systemd regularly that the process works.
type watchdog struct {
	running sync.WaitGroup
	cancel  context.CancelFunc
}

// start tells until stop, except while a service is stuck.
func (w *watchdog) start(stuck func(context.Context) bool, tell func(state string)) {
	interval := watchdogInterval(os.Getenv)
	if interval == 0 {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	w.cancel = cancel
	w.running.Go(func() {
		ticker := time.NewTicker(interval)
		defer ticker.Stop()
		for {
			if !stuck(ctx) {
				tell("WATCHDOG=1")
			}
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
			}
		}
	})
}

func (w *watchdog) stop() {
	if w.cancel != nil {
		w.cancel()
		w.running.Wait()
	}
}
