// Command shop makes the database of a shop as it is after a month; see package month.
//
//	go run ./scripts/shop [-days 30] DATABASE-URL
package main

import (
	"context"
	"flag"
	"fmt"
	"os"

	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/periodic"
	"github.com/nextrun/nextrun/scripts/shop/month"
)

func main() {
	days := flag.Int("days", 30, "how many days the shop has been open")
	config := flag.String("config", "scripts/shop/nextrun.yaml", "its configuration file")
	flag.Parse()
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "usage: go run ./scripts/shop [-days N] sqlite:PATH | postgres://...")
		os.Exit(2)
	}
	t, err := month.Make(context.Background(), month.Options{URL: flag.Arg(0), Config: *config, Days: *days})
	if err != nil {
		fmt.Fprintln(os.Stderr, "shop:", err)
		os.Exit(1)
	}
	fmt.Printf("ticks submitted %d, skipped %d, late %d, missed %d; jobs done %d, failed %d, cancelled %d\n",
		t.Sum(periodic.Submitted), t.Sum(periodic.Skipped), t.Sum(periodic.Late), t.Sum(periodic.Missed),
		t.Ends(jobqueue.Success), t.Ends(jobqueue.Failed), t.Ends(jobqueue.Cancelled))
}
