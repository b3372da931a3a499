package own_test

import (
	"testing"

	"github.com/nextrun/nextrun/store/storetest/migrated"
)

func TestMain(m *testing.M) { migrated.VerifyTestMain(m) }
