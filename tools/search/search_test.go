package search_test

import (
	"testing"

	"toolcrib/tools/internal/tooltest"
	"toolcrib/tools/search"
)

func TestTools(t *testing.T) {
	for _, tool := range search.Tools(search.Deps{}) {
		t.Run(tool.Name, func(t *testing.T) { tooltest.Run(t, tool) })
	}
}
