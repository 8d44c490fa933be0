package identity

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

// Bounds of the cache of the issuer's keys.
const (
	// Keys count for as long as their Cache-Control says, within these bounds;
	// usualLife where it says nothing.
	leastLife, usualLife, mostLife = time.Minute, 10 * time.Minute, time.Hour
	// A key that is not known has the keys fetched again, but not more often than
	// once in renewAfter; so do keys that no longer count, once in retryAfter.
	renewAfter, retryAfter = time.Minute, 5 * time.Second
	// fetchWait is how long one fetch may take.
	fetchWait = 10 * time.Second
)

// keySet is the keys of an issuer. They are fetched when they are wanted, by one
// request for all who wait; when they no longer count and cannot be fetched, no
// token is taken.
type keySet struct {
	fetch func(ctx context.Context) ([]key, time.Duration, error)
	now   func() time.Time

	mu       sync.Mutex
	keys     []key
	until    time.Time     // that keys count
	tried    time.Time     // when they were fetched last, or tried to be
	failure  error         // of that
	fetching chan struct{} // closed when the fetch that goes on is over; nil: none does
}

func newKeySet(cfg JWT) (*keySet, error) {
	s, err := newSource(cfg)
	if err != nil {
		return nil, err
	}
	return &keySet{fetch: s.fetch, now: cfg.Now}, nil
}

// find returns the keys that may have made a signature: those called kid, or the
// only ones that fit alg where a token names none. Its error is an [invalidToken]
// or an [unavailable].
func (s *keySet) find(ctx context.Context, kid, alg string) ([]jwt.VerificationKey, error) {
	keys, err := s.current(ctx, retryAfter, false)
	if err != nil {
		return nil, err
	}
	found := matching(keys, kid, alg)
	if len(found) == 0 { // the issuer may have a new one
		if keys, err = s.current(ctx, renewAfter, true); err != nil {
			return nil, err
		}
		found = matching(keys, kid, alg)
	}
	switch {
	case len(found) == 0:
		return nil, invalidToken("the token is signed by a key that the issuer does not have")
	case kid == "" && len(found) > 1:
		return nil, invalidToken("the token does not name its key, and the issuer has several")
	}
	return found, nil
}

func matching(keys []key, kid, alg string) (found []jwt.VerificationKey) {
	for _, k := range keys {
		if (kid == "" || k.id == kid) && k.fits(alg) {
			found = append(found, k.public)
		}
	}
	return found
}

// current returns the keys. It fetches them where they no longer count or newer ones
// are wanted, if the last fetch was at least pause ago.
func (s *keySet) current(ctx context.Context, pause time.Duration, newer bool) ([]key, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	if (newer || !now.Before(s.until)) && (s.fetching != nil || s.tried.IsZero() || now.Sub(s.tried) >= pause) {
		if s.fetching == nil {
			s.tried, s.fetching = now, make(chan struct{})
			go s.renew(context.WithoutCancel(ctx), s.fetching)
		}
		over := s.fetching
		s.mu.Unlock()
		var gone error
		select {
		case <-over:
		case <-ctx.Done():
			gone = ctx.Err()
		}
		s.mu.Lock()
		if gone != nil {
			return nil, &unavailable{gone}
		}
	}
	if s.now().Before(s.until) {
		return s.keys, nil
	}
	return nil, &unavailable{fmt.Errorf("the keys of the issuer cannot be fetched: %w", s.failure)}
}

// errAborted is the failure of a fetch that never came to its end.
var errAborted = errors.New("the fetch was broken off")

// renew fetches the keys for all who wait. Those that are there stay for their time
// where that fails.
func (s *keySet) renew(ctx context.Context, over chan struct{}) {
	ctx, cancel := context.WithTimeout(ctx, fetchWait)
	defer cancel()
	keys, life, err := []key(nil), time.Duration(0), errAborted
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.failure = err; err == nil {
			s.keys, s.until = keys, s.now().Add(life)
		}
		s.fetching = nil
		close(over)
	}()
	keys, life, err = s.fetch(ctx)
}
