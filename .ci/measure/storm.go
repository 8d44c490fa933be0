package main

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// stormClients is how many clients storm at once.
const stormClients = 64

// storm has 64 clients make 10,000 calls each, in both eras and over both
// transports, some of them cancelled and some cut off by a disconnect, and
// accounts for each of them.
func storm(ctx context.Context, env environment) error {
	calls := env.of(10_000, 50)
	seed := newSeed()
	fmt.Printf("| storm: %d clients, %d calls each | calls a second | cancelled | cut off, by disconnects | lost | doubled | crossed | after a cancel | goroutines, descriptors |\n|---|---|---|---|---|---|---|---|---|\n",
		stormClients, calls)
	var errs []error
	for _, transport := range []struct {
		name string
		run  func(ctx context.Context, era era, clients, calls int, seed uint64, tally *stormTally) error
	}{{"stdio", stormStdio}, {"HTTP", stormHTTP}} {
		for _, era := range stormEras {
			tally := new(stormTally)
			begin := time.Now()
			err := errors.Join(transport.run(ctx, era, stormClients, calls, seed, tally), tally.verdict())
			fmt.Printf("| %s, %s | %.0f | %d (%d answers on their way) | %d, %d | %d | %d | %d | %d | %s |\n",
				transport.name, era.name, float64(tally.calls)/time.Since(begin).Seconds(), tally.cancelled, tally.onTheWay,
				tally.cut, tally.disconnects, tally.lost, tally.doubled, tally.crossed, tally.late, back(tally))
			for _, sample := range tally.samples {
				fmt.Printf("  %s\n", sample)
			}
			if err != nil {
				errs = append(errs, fmt.Errorf("%s, %s: %w", transport.name, era.name, err))
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
