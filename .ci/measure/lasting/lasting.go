// Package lasting has the figures of what must survive: durable runs and schedules, whose
// processes are killed, and the times of cron expressions beside two libraries of npm.
//
// Start at [Durable], [Schedules] and [Cron].
package lasting

import (
	"context"
	"fmt"
	"regexp"

	"toolcrib/.ci/measure/harness"
)

// Durable kills one of three processes a second for a minute while they carry out a thousand
// runs, on both databases: no effect is done twice, and none is lost without a report.
func Durable(ctx context.Context, env harness.Environment) error {
	kills := fmt.Sprintf("TOOLCRIB_DURABLE=%d", env.Of(60, 3))
	return harness.Suite(ctx, []string{kills}, "./tools/durable", "^TestKills$", regexp.MustCompile("durable: "))
}

// Cron computes the next times of random expressions around changes of clocks, beside croner
// and cron-parser. Each difference is explained by a rule that is written down.
func Cron(ctx context.Context, env harness.Environment) error {
	vars := []string{fmt.Sprintf("TOOLCRIB_CRON=%d", env.Of(5000, 100)), "TOOLCRIB_NPM=" + env.NPM("")}
	return harness.Suite(ctx, vars, "./tools/schedule/internal/slots", "^(TestPeers|TestOracle)$", regexp.MustCompile("cron: "))
}
