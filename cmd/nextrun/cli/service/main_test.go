package service_test

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	_ = os.Setenv("SERVICE_TEST_TOKEN", "s3cret") // parallel tests cannot set variables
	goleak.VerifyTestMain(m)
}
