package files_test

import (
	"testing"

	"toolcrib/tools/files"
	"toolcrib/tools/internal/tooltest"
)

func TestTools(t *testing.T) {
	for _, tool := range files.Tools(files.Deps{}) {
		t.Run(tool.Name, func(t *testing.T) { tooltest.Run(t, tool) })
	}
}
