package files

import (
	"context"
	"regexp"
	"strconv"

	"toolcrib/.ci/measure/harness"
)

// Escapes races opens against an attacker who swaps directories, files and
// links, on both ways of opening and on a prefix check as control.
func Escapes(ctx context.Context, env harness.Environment) error {
	return harness.Suite(ctx, []string{"TOOLCRIB_RACE_OPENS=" + strconv.Itoa(env.Of(1_000_000, 10_000))},
		"./workspace", "^TestRacingSwap", regexp.MustCompile(`opens`))
}

// Vectors tries every path that leads out of the roots in every path argument
// of every tool (at less than the full size, of a few), and on both ways of opening.
func Vectors(ctx context.Context, env harness.Environment) error {
	which := "."
	if !env.Full() {
		which = "^(read_file|copy_path|grep)$"
	}
	return harness.Suite(ctx, nil, "./workspace ./tools/catalog", "^TestVectors$|^TestTools$/"+which+"/^escapes$", regexp.MustCompile(`vectors?:`))
}
