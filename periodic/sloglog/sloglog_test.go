package sloglog_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sirupsen/logrus"

	"github.com/nextrun/nextrun/periodic/sloglog"
)

// recorder is a handler that keeps records and fails.
type recorder struct {
	slog.Handler
	level   *slog.LevelVar
	records []slog.Record
	value   any // of the context key
}

type key struct{}

func (r *recorder) Enabled(_ context.Context, level slog.Level) bool { return level >= r.level.Level() }

func (r *recorder) Handle(ctx context.Context, record slog.Record) error {
	r.records = append(r.records, record)
	r.value = ctx.Value(key{})
	return errors.New("the disk is full")
}

func newRecorder(level slog.Level) *recorder {
	r := &recorder{level: new(slog.LevelVar)}
	r.level.Set(level)
	return r
}

// What is logged comes out as JSON of slog with the same content.
func TestRecordsAreKept(t *testing.T) {
	var out bytes.Buffer
	log := sloglog.New(slog.NewJSONHandler(&out, &slog.HandlerOptions{AddSource: true, Level: slog.LevelDebug}))
	at := time.Date(2026, 3, 4, 5, 6, 7, 8000, time.UTC)
	log.(*logrus.Logger).WithTime(at).WithError(errors.New("it rains")).
		WithFields(logrus.Fields{"took": 1500 * time.Millisecond, "jobs": 3, "id": "nightly"}).Warn("job failed")
	var line struct {
		Time                  time.Time
		Level, Msg, ID, Error string
		Took, Jobs            float64
		Source                struct{ Function, File string }
	}
	if err := json.Unmarshal(out.Bytes(), &line); err != nil {
		t.Fatalf("%v in %s", err, out.String())
	}
	if !line.Time.Equal(at) || line.Level != "WARN" || line.Msg != "job failed" || line.ID != "nightly" ||
		line.Error != "it rains" || line.Took != 1.5e9 || line.Jobs != 3 {
		t.Errorf("the line is %s", out.String())
	}
	if filepath.Base(line.Source.File) != "sloglog_test.go" || !strings.HasSuffix(line.Source.Function, t.Name()) {
		t.Errorf("the line says that it comes from %+v", line.Source)
	}
}

func TestLevels(t *testing.T) {
	r := newRecorder(slog.LevelDebug - 4)
	log := sloglog.New(r).(*logrus.Logger)
	log.ExitFunc = func(int) {}
	log.Trace("")
	log.Debug("")
	log.Info("")
	log.Warn("")
	log.Error("")
	func() { log.Fatal("") }()
	func() {
		defer func() {
			if recover() == nil {
				t.Error("Panic did not panic")
			}
		}()
		log.Panic("")
	}()
	want := []slog.Level{
		slog.LevelDebug - 4, slog.LevelDebug, slog.LevelInfo, slog.LevelWarn, slog.LevelError,
		slog.LevelError + 4, slog.LevelError + 8,
	}
	var got []slog.Level
	for _, record := range r.records {
		got = append(got, record.Level)
	}
	if !slices.Equal(got, want) {
		t.Errorf("levels %v, want %v", got, want)
	}
}

// The handler decides for each line, so that its level can change.
func TestHandlerDecidesWhatIsLogged(t *testing.T) {
	r := newRecorder(slog.LevelWarn)
	log := sloglog.New(r)
	log.Info("too fine")
	r.level.Set(slog.LevelDebug)
	log.Debug("fine now")
	if len(r.records) != 1 || r.records[0].Message != "fine now" {
		t.Errorf("records %v", r.records)
	}
}

func TestContextAndAttributesOfTheHandlerAreKept(t *testing.T) {
	r := newRecorder(slog.LevelInfo)
	sloglog.New(r).(*logrus.Logger).WithContext(context.WithValue(t.Context(), key{}, "request 7")).Info("x")
	if r.value != "request 7" {
		t.Errorf("the context has %v", r.value)
	}
	var out bytes.Buffer
	h := slog.NewTextHandler(&out, nil).WithAttrs([]slog.Attr{slog.String("app", "shop")}).WithGroup("nextrun")
	sloglog.New(h).WithField("id", "nightly").Info("job submitted")
	if got := out.String(); !strings.Contains(got, `app=shop nextrun.id=nightly`) {
		t.Errorf("the line is %s", got)
	}
}

// A line goes to the handler only, whether that fails or not.
func TestNothingIsWrittenToStandardError(t *testing.T) {
	file, err := os.Create(filepath.Join(t.TempDir(), "stderr"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	stderr := os.Stderr
	os.Stderr = file
	defer func() { os.Stderr = stderr }()
	r := newRecorder(slog.LevelInfo)
	sloglog.New(r).WithField("id", "nightly").Error("job failed")
	written, err := os.ReadFile(file.Name())
	if err != nil || len(written) > 0 || len(r.records) != 1 {
		t.Errorf("%d records, and on standard error %q, %v", len(r.records), written, err)
	}
}
