package store_test

import (
	"fmt"
	"testing"

	"toolcrib/workspace/internal/store"
)

// TestStripe fixes the stripes: processes of two versions must agree on them.
func TestStripe(t *testing.T) {
	for name, want := range map[string]int{"main.go": 3, "caf\u00e9": 154} {
		if got := store.Stripe(name); got != want {
			t.Errorf("%s has the stripe %d, want %d", name, got, want)
		}
	}
	if a, b := store.Stripe("caf\u00e9"), store.Stripe("CAFE\u0301"); a != b {
		t.Errorf("two spellings have the stripes %d and %d", a, b)
	}
	used := map[int]bool{}
	for i := range 2000 {
		used[store.Stripe(fmt.Sprint(i))] = true
	}
	if len(used) < 250 {
		t.Errorf("2000 paths use %d stripes", len(used))
	}
}
