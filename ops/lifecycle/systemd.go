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
	socket := os.Getenv("NOTIFY_SOCKET")
	if socket == "" {
		return
	}
	conn, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: socket, Net: "unixgram"})
	if err == nil {
		_, err = conn.Write([]byte(state)) // a datagram is sent whole or not at all
		_ = conn.Close()
	}
	if err != nil {
		p.cfg.Logger.Warn("systemd could not be told the state of this process", "error", err, "state", state)
	}
}

// watchdogInterval is how often systemd wants to hear of this process: half of
// WatchdogSec=, as sd_watchdog_enabled(3) recommends; 0: never.
func watchdogInterval() time.Duration {
	if pid := os.Getenv("WATCHDOG_PID"); pid != "" && pid != strconv.Itoa(os.Getpid()) {
		return 0
	}
	micros, err := strconv.ParseInt(os.Getenv("WATCHDOG_USEC"), 10, 64)
	if err != nil || micros <= 0 {
		return 0
	}
	return time.Duration(micros) * time.Microsecond / 2
}

// watch tells systemd regularly that the process works, except while a service is stuck.
func (p *Process) watch() {
	interval := watchdogInterval()
	if interval == 0 {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	p.unwatch = func() {
		cancel()
		running.Wait()
	}
	running.Go(func() {
		ticker := time.NewTicker(interval)
		defer ticker.Stop()
		for ctx.Err() == nil {
			if !p.stuck(ctx) {
				p.tellSystemd("WATCHDOG=1")
			}
			select {
			case <-ctx.Done():
			case <-ticker.C:
			}
		}
	})
}
