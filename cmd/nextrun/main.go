// Command nextrun submits the jobs of periodic tasks, runs jobs, and manages
// both. See `nextrun --help`.
package main

import (
	"context"
	"os"

	"github.com/nextrun/nextrun/ops/cli"
)

func main() {
	os.Exit(cli.Run(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr, os.Getenv))
}
