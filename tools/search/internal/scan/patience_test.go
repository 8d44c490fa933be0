package scan_test

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"toolcrib/tools/search/internal/match"
	"toolcrib/tools/search/internal/scan"
)

// A file that takes too long keeps neither the others nor what was found in it before.
func TestSlowFile(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(1, 2))
	letters := make([]byte, 8<<20)
	for i := range letters {
		letters[i] = byte('a' + rnd.IntN(20))
	}
	line := string(letters) + "NEEDLE\n"
	for _, p := range []match.Pattern{
		{Text: `[a-j][^z]{900}NEEDLE|^NEEDLE`, Case: match.Sensitive},
		{Text: `[a-j][^z]{900}NEEDLE|^NEEDLE`, Case: match.Sensitive, Multiline: true},
		{Text: `[a-j][^z]{900}NEEDLE|^NEEDLE|[a-z]$`, Case: match.Sensitive}, // not where the search ends
	} {
		sources := []file{{name: "a", text: "NEEDLE\n"}, {name: "slow", text: "NEEDLE\n" + line}, {name: "slow too", text: line}, {name: "z", text: "NEEDLE\n"}}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		want := []scan.Skip{scan.Searched, scan.Slow, scan.Slow, scan.Searched}
		var got []scan.Skip
		for f := range scan.Files(ctx, slices.Values([][]file{sources}), compile(t, p), scan.Options{Keep: 5, Part: 0.02}) {
			got = append(got, f.Skip)
			matches := 1
			if f.Source.name == "slow too" {
				matches = 0
			}
			if f.Matches != matches || f.Err != nil {
				t.Errorf("%+v in %s: %d matches, error %v", p, f.Source.name, f.Matches, f.Err)
			}
		}
		if !slices.Equal(got, want) || ctx.Err() != nil {
			t.Errorf("%+v: skipped for %d, want %d, error %v", p, got, want, ctx.Err())
		}
		cancel()
	}
}
