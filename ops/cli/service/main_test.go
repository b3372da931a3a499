package service_test

import (
	"os"
	"testing"

	"github.com/nextrun/nextrun/internal/testkit/migrated"
)

func TestMain(m *testing.M) {
	_ = os.Setenv("SERVICE_TEST_TOKEN", "s3cret") // parallel tests cannot set variables
	migrated.VerifyTestMain(m)
}
