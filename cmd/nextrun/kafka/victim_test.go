package kafka_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/nextrun/nextrun/cmd/nextrun/kafka"
	"github.com/nextrun/nextrun/jobqueue/outbox"
	"github.com/nextrun/nextrun/store"
)

const (
	victimVariable  = "NEXTRUN_TEST_VICTIM_DB"
	brokersVariable = "NEXTRUN_TEST_VICTIM_BROKERS"
)

// TestMain runs a relay instead of the tests in the processes that tests start
// to kill.
func TestMain(m *testing.M) {
	if os.Getenv(victimVariable) != "" {
		os.Exit(victim())
	}
	goleak.VerifyTestMain(m)
}

// victim runs a relay that produces a batch, says so on standard output, and
// never gets to record it.
func victim() int {
	ctx := context.Background()
	db, err := store.Open(ctx, os.Getenv(victimVariable), store.Options{})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	publisher, err := kafka.New(kafka.Config{Brokers: strings.Fields(os.Getenv(brokersVariable))})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	relay, err := outbox.New(db.Outbox(), outbox.PublisherFunc(func(ctx context.Context, events []outbox.Event) (int, error) {
		n, err := publisher.Publish(ctx, events)
		fmt.Printf("published %d %v\n", n, err)
		select {}
	}), quick("victim"))
	if err == nil {
		err = relay.Start(ctx)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	select {}
}

// killRelay runs a relay in a process of its own, and kills it when it has
// produced a batch that it has not recorded.
func killRelay(t *testing.T, url string, brokers []string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	process := exec.Command(self)
	process.Env = append(os.Environ(), victimVariable+"="+url, brokersVariable+"="+strings.Join(brokers, " "))
	process.Stderr = os.Stderr
	out, err := process.StdoutPipe()
	if err == nil {
		err = process.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	_ = process.Process.Kill() // SIGKILL
	_ = process.Wait()
	if err != nil || line != "published 10 <nil>\n" {
		t.Fatalf("the relay to kill said %q, %v", line, err)
	}
}
