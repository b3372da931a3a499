// Command nextrun submits the jobs of periodic tasks, runs jobs, and manages
// both. See `nextrun --help`.
package main

import (
	"context"
	"os"

	"github.com/nextrun/nextrun/ops/cli"
	"github.com/nextrun/nextrun/ops/cli/ui"
)

func main() {
	ctx, stop := ui.WithSignals(context.Background())
	exit := cli.Run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr, os.Getenv)
	stop()
	os.Exit(exit)
}
