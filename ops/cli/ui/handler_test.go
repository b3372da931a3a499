package ui

import (
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/sirupsen/logrus"
)

// The packages log with slog: levels and fields come through.
func TestHandler(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	logger := logrus.New()
	logger.SetOutput(&out)
	logger.SetFormatter(&jsonFormatter{logrus.JSONFormatter{DisableTimestamp: true}})
	log := slog.New(handler{logger: logger})
	log.Debug("not this one")
	log.With("task", "a").Warn("failed", "error", errors.New("no disk"), "attempt", 2)
	want := `{"attempt":2,"error":"no disk","level":"warning","msg":"failed","task":"a"}
`
	if out.String() != want {
		t.Errorf("got\n%swant\n%s", out.String(), want)
	}
}
