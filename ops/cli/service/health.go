package service

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/nextrun/nextrun/ops/cli/ui"
	"github.com/nextrun/nextrun/ops/lifecycle"
)

// healthAddress is where the process reports its health; empty: nowhere.
func healthAddress(env *ui.Env, flag string) (string, error) {
	text := env.Setting(flag, "NEXTRUN_HEALTH", "")
	if text == "" {
		return "", nil
	}
	address, err := lifecycle.LoopbackAddress(text)
	if err != nil {
		return "", ui.Usagef("--health or NEXTRUN_HEALTH is %q; use a loopback address with a port, such as 127.0.0.1:8321: "+
			"whoever reaches it may read it", text)
	}
	return address, nil
}

// HealthCommand returns `nextrun health`.
func HealthCommand(env *ui.Env) *cobra.Command {
	var health string
	var asJSON bool
	command := &cobra.Command{
		Use:   "health",
		Short: "Show the health of a running process on this host",
		Long: `Show the state of each stage of a process that was started with --health ADDRESS.
Exit code 0: healthy; 1: unhealthy, or no answer.`,
		Example: `  nextrun serve --health 127.0.0.1:8321
  nextrun health --health 127.0.0.1:8321`,
		Args: ui.Arguments(),
		RunE: func(c *cobra.Command, _ []string) error {
			address, err := healthAddress(env, health)
			if err != nil {
				return err
			}
			if address == "" {
				return ui.Usagef("missing --health ADDRESS: the address with which the process was started")
			}
			report, err := lifecycle.AskHealth(c.Context(), address)
			if err != nil {
				return fmt.Errorf("ask %[1]s: %[2]w; was the process started with --health %[1]s?", address, err)
			}
			t := ui.NewTable("STAGE", "STATE", "ERROR")
			for _, one := range report.Stages {
				t.Add(one.Stage, string(one.State), one.Error)
			}
			if report.LogLost > 0 {
				t.Add("log", "up", ui.Counted(report.LogLost, "line")+" lost: nobody took them")
			}
			if err := env.PrintTable(t, report, asJSON); err != nil {
				return err
			}
			if !report.Healthy {
				return errors.New("unhealthy")
			}
			return nil
		},
	}
	command.Flags().StringVar(&health, "health", "", "loopback `address` of the process (NEXTRUN_HEALTH)")
	ui.JSONFlag(command, &asJSON)
	return command
}
