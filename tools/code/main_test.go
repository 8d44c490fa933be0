package code_test

import (
	"testing"

	"toolcrib/tools/code"
	"toolcrib/tools/internal/tooltest"
)

func TestMain(m *testing.M) { tooltest.Main(m, code.Program) }
