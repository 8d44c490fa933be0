package main

import (
	"context"
	"regexp"
	"strconv"
)

// escapes races opens against an attacker who swaps directories, files and
// links, on both ways of opening and on a prefix check as control.
func escapes(ctx context.Context, env environment) error {
	return suite(ctx, []string{"TOOLCRIB_RACE_OPENS=" + strconv.Itoa(env.of(1_000_000, 10_000))},
		"./workspace", "^TestRacingSwap", regexp.MustCompile(`opens`))
}

// vectors tries every path that leads out of the roots in every path argument
// of every tool, and on both ways of opening.
func vectors(ctx context.Context, _ environment) error {
	return suite(ctx, nil, "./workspace ./tools/catalog", "^TestVectors$|^TestTools$", regexp.MustCompile(`vectors?:`))
}
