package cli

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"
)

func (p *program) healthCommand() *cobra.Command {
	var health string
	var asJSON bool
	command := &cobra.Command{
		Use:   "health",
		Short: "Ask a running process on this host how it stands",
		Long: `Ask a process that was started with --health ADDRESS how its stages stand. Exit
code 0: all is well; 1: something is not, or the process does not answer.`,
		Example: `  nextrun serve --health 127.0.0.1:8321
  nextrun health --health 127.0.0.1:8321`,
		Args: arguments(),
		RunE: func(c *cobra.Command, _ []string) error {
			address, err := p.healthAddress(health)
			if err != nil {
				return err
			}
			if address == "" {
				return usagef("missing --health ADDRESS, as the process has it that is asked")
			}
			report, err := askHealth(c.Context(), address)
			if err != nil {
				return fmt.Errorf("ask %s: %w", address, err)
			}
			t := newTable("STAGE", "STATE", "ERROR")
			for _, one := range report.Stages {
				t.add(one.Stage, one.State, one.Error)
			}
			if err := p.print(t, report, asJSON); err != nil {
				return err
			}
			if !report.Healthy {
				return errors.New("not all is well")
			}
			return nil
		},
	}
	command.Flags().StringVar(&health, "health", "", "loopback `address` of the process (NEXTRUN_HEALTH)")
	jsonFlag(command, &asJSON)
	return command
}
