package fsys_test

import (
	"testing"

	"toolcrib/workspace/internal/fsys"
)

// TestFreshStamp looks at times around now.
func TestFreshStamp(t *testing.T) {
	t.Parallel()
	const second = int64(1e9)
	for _, tt := range []struct {
		modified, changed int64 // after now
		want              bool
	}{
		{-10 * second, -10 * second, false}, {-second, -10 * second, true}, {-10 * second, -second, true},
		{3600 * second, -10 * second, false}, {second, -10 * second, true}, {-10 * second, 3600 * second, true},
	} {
		if got := fsys.FreshStamp(tt.modified, tt.changed); got != tt.want {
			t.Errorf("modified %d, changed %d: fresh=%t", tt.modified, tt.changed, got)
		}
	}
}
