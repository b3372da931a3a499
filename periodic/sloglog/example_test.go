package sloglog_test

import (
	"log/slog"
	"os"

	"github.com/nextrun/nextrun/periodic/scheduler"
	"github.com/nextrun/nextrun/periodic/sloglog"
)

// A program that logs with slog hands its handler to the scheduler, here one
// that leaves out the time.
func ExampleNew() {
	handler := slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{
		ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey {
				return slog.Attr{}
			}
			return a
		},
	})
	cfg := scheduler.Config{Name: "shop", Logger: sloglog.New(handler)}

	cfg.Logger.WithField("id", "nightly-backup").Info("job submitted") // as the scheduler does
	// Output: level=INFO msg="job submitted" id=nightly-backup
}
