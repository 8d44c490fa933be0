// Package storms has the figures of many clients, calls and sessions: that none is lost,
// doubled or crossed, and what the server holds after them. It also has the toys, servers
// with tools that the figures need.
//
// Start at [Storm] and [ServeToys]. It imports the harness, rawhttp and packages of the
// server, and no other figures.
package storms

import (
	"context"
	"errors"
	"fmt"
	"time"

	"toolcrib/.ci/measure/harness"
	"toolcrib/.ci/measure/rawhttp"
)

// stormClients is how many clients storm at once.
const stormClients = 64

// Storm has 64 clients make 10,000 calls each, in both eras and over both
// transports, some of them cancelled and some cut off by a disconnect, and
// accounts for each of them.
func Storm(ctx context.Context, env harness.Environment) error {
	calls := env.Of(10_000, 50)
	seed := harness.NewSeed()
	fmt.Printf("| storm: %d clients, %d calls each | calls a second | cancelled | cut off, by disconnects | lost | doubled | crossed | after a cancel | goroutines, descriptors |\n|---|---|---|---|---|---|---|---|---|\n",
		stormClients, calls)
	var errs []error
	for _, transport := range []struct {
		name string
		run  func(ctx context.Context, era rawhttp.Era, clients, calls int, seed uint64, tally *stormTally) error
	}{{"stdio", stormStdio}, {"HTTP", stormHTTP}} {
		for _, era := range rawhttp.Eras {
			tally := new(stormTally)
			begin := time.Now()
			err := errors.Join(transport.run(ctx, era, stormClients, calls, seed, tally), tally.verdict())
			fmt.Printf("| %s, %s | %.0f | %d (%d answers on their way) | %d, %d | %d | %d | %d | %d | %s |\n",
				transport.name, era.Name, float64(tally.calls)/time.Since(begin).Seconds(), tally.cancelled, tally.onTheWay,
				tally.cut, tally.disconnects, tally.lost, tally.doubled, tally.crossed, tally.late, back(tally))
			for _, sample := range tally.samples {
				fmt.Printf("  %s\n", sample)
			}
			if err != nil {
				errs = append(errs, fmt.Errorf("%s, %s: %w", transport.name, era.Name, err))
			}
		}
	}
	return errors.Join(errs...)
}

func back(t *stormTally) string {
	if t.held > 0 {
		return fmt.Sprintf("more than before in %d servers", t.held)
	}
	return "as before"
}
