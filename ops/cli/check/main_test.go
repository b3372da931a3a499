package check_test

import (
	"testing"

	"github.com/nextrun/nextrun/internal/testkit/migrated"
)

func TestMain(m *testing.M) { migrated.VerifyTestMain(m) }
