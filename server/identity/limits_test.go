package identity_test

import (
	"fmt"
	"testing"
	"time"

	"toolcrib/server/identity"
)

func newLimiter(t *testing.T, c *clock, cfg identity.Limits) *identity.Limiter {
	t.Helper()
	l, err := identity.NewLimiter(cfg, c.now)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestLimitRate(t *testing.T) {
	c := &clock{at: time.Unix(1000, 0)}
	l := newLimiter(t, c, identity.Limits{Rate: "60/m", Burst: 3, Tools: map[string]identity.Limit{"slow": {Rate: "1/m"}}})
	expect := func(principal, tool string, inside bool, want time.Duration) {
		t.Helper()
		leave, wait := l.Enter(principal, tool, inside)
		if wait != want || (leave == nil) != (want > 0) {
			t.Errorf("%s %s: wait %v, want %v", principal, tool, wait, want)
		}
		if leave != nil {
			leave()
			leave() // the second time does nothing
		}
	}
	expect("ada", "slow", false, 0)
	expect("ada", "slow", false, time.Minute)
	expect("ada", "fast", false, 0) // the one that was refused took nothing
	expect("ada", "fast", false, 0)
	expect("ada", "fast", false, time.Second)
	expect("ada", "fast", true, 0)
	expect("ada", "slow", true, time.Minute)
	expect("bob", "slow", false, 0)
	c.pass(time.Second)
	expect("ada", "fast", false, 0)
	expect("ada", "fast", false, time.Second)
}

func TestLimitConcurrent(t *testing.T) {
	c := &clock{at: time.Unix(1000, 0)}
	l := newLimiter(t, c, identity.Limits{Concurrent: 3, Tools: map[string]identity.Limit{"bash": {Concurrent: 1}}})
	first, _ := l.Enter("ada", "bash", false)
	if leave, wait := l.Enter("ada", "bash", true); leave != nil || wait == 0 {
		t.Error("two of bash at once")
	}
	if leave, _ := l.Enter("bob", "bash", false); leave == nil {
		t.Error("bob waits for ada")
	}
	second, _ := l.Enter("ada", "grep", false)
	third, _ := l.Enter("ada", "grep", false)
	if first == nil || second == nil || third == nil {
		t.Fatal("not three at once")
	}
	if leave, _ := l.Enter("ada", "grep", false); leave != nil {
		t.Error("four at once")
	}
	first()
	first()
	if leave, _ := l.Enter("ada", "bash", false); leave == nil {
		t.Error("bash is not free again")
	}
	if leave, _ := l.Enter("ada", "grep", false); leave != nil {
		t.Error("four at once, since one has left twice")
	}
}

// A call that runs is never forgotten, however many principals come.
func TestLimitBounded(t *testing.T) {
	c := &clock{at: time.Unix(1000, 0)}
	l := newLimiter(t, c, identity.Limits{Concurrent: 1})
	if leave, _ := l.Enter("ada", "grep", false); leave == nil {
		t.Fatal("not one")
	}
	for i := range 50_000 {
		leave, _ := l.Enter(fmt.Sprint(i), "grep", false)
		if leave == nil {
			t.Fatalf("principal %d waits for others", i)
		}
		leave()
	}
	if leave, _ := l.Enter("ada", "grep", false); leave != nil {
		t.Error("two at once")
	}
	if n := l.Meters(); n > 1<<14 {
		t.Errorf("%d are remembered", n)
	}
}

func TestLimitsRefused(t *testing.T) {
	for _, rate := range []string{"fast", "10", "10/d", "0/s", "-1/s", "1.5/s", "/s"} {
		if _, err := identity.NewLimiter(identity.Limits{Rate: rate}, nil); err == nil {
			t.Errorf("%q: taken", rate)
		}
	}
	if _, err := identity.NewLimiter(identity.Limits{Tools: map[string]identity.Limit{"bash": {Concurrent: -1}}}, nil); err == nil {
		t.Error("a negative limit: taken")
	}
}
