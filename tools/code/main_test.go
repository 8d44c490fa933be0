package code_test

import (
	"os"
	"testing"
	"time"

	"toolcrib/tools/code"
	"toolcrib/tools/internal/tooltest"
)

// late is a file in whose directory programs begin two seconds late.
const late = "begin late"

func TestMain(m *testing.M) {
	tooltest.Main(m, func(args []string) (int, bool) {
		if _, err := os.Stat(late); err == nil {
			time.Sleep(2 * time.Second)
		}
		return code.Program(args)
	})
}
