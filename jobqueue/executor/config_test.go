package executor_test

import (
	"strings"
	"testing"
	"time"

	"github.com/nextrun/nextrun/jobqueue/executor"
)

func TestConfigNamesEveryBadField(t *testing.T) {
	for field, cfg := range map[string]executor.Config{
		"Name is \"\"":        {},
		"Name is \"a/b\"":     {Name: "a/b"},
		"Name is \"nnn":       {Name: strings.Repeat("n", 201)},
		"PoolSize is -1":      {Name: "n", PoolSize: -1},
		"PoolSize is 10001":   {Name: "n", PoolSize: 10_001},
		"High is -1":          {Name: "n", High: -1},
		"Low is 1001":         {Name: "n", Low: 1001},
		"PollInterval is -1s": {Name: "n", PollInterval: -time.Second},
		"RetryDelay is 2h":    {Name: "n", RetryDelay: 2 * time.Hour},
		"RetryLimit is -2":    {Name: "n", RetryLimit: -2},
		"RetryCap is 9000h":   {Name: "n", RetryCap: 9000 * time.Hour},
		"MaxInterrupts is -2": {Name: "n", MaxInterrupts: -2},
	} {
		_, err := executor.New(nil, cfg)
		if err == nil || !strings.Contains(err.Error(), "executor.Config."+field) {
			t.Errorf("%s: %v", field, err)
		}
	}
	if _, err := executor.New(nil, executor.Config{Name: strings.Repeat("n", 200)}); err != nil {
		t.Error(err)
	}
}
