package documents

import (
	"testing"
	"time"
)

// SetPatience sets how long a call reads files until the test ends.
func SetPatience(t *testing.T, d time.Duration) {
	old := patience
	t.Cleanup(func() { patience = old })
	patience = d
}
