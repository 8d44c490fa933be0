package search_test

import (
	"strings"
	"testing"

	"toolcrib/tools"
	"toolcrib/tools/search"
)

// The memory of indexes is a number of megabytes.
func TestSettings(t *testing.T) {
	for text, ok := range map[string]bool{"": true, "0": true, "64": true, "-1": false, "160MB": false, "99999999": false} {
		wrong := (&search.Settings{IndexMemory: text}).Check(tools.Host{})
		if ok != (wrong == nil) || !ok && (wrong[0].Key != "index_memory" || !strings.Contains(wrong[0].Error(), text)) {
			t.Errorf("%q: %v", text, wrong)
		}
	}
}
