// Package slots computes the times of schedules: from cron expressions, from intervals, and
// single ones. A slot is an instant in whole seconds; it depends on the expression alone and
// never on when anything ran.
//
// Cron expressions are in the wall time of a zone. Where the clocks change, these rules hold:
//
//   - A time that does not exist is the first instant after the gap. Several such times of
//     one expression are that one instant.
//   - A time that exists twice is the first of the two.
//   - An expression whose hour field is * goes by real hours: it has every instant whose wall
//     time matches, so both of a repeated hour and none of a missing one.
//
// A day matches if its day of month or its day of week does, where both fields are restricted.
// A field is restricted unless it is * or ?; so */2 is. Everything else of cron is as Vixie's:
// lists, ranges, steps, names, 7 for Sunday, @daily and the like. Six fields begin with the
// seconds, and L is the last day of a month.
//
// Start reading at [Parse]. The package imports nothing of ours.
package slots

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
	"time"
	_ "time/tzdata" // machines without the zones, such as containers
)

// Times is a set of slots.
type Times struct {
	cron   *cron // nil: not of an expression
	zone   *time.Location
	anchor time.Time
	every  time.Duration // 0: anchor is the only slot
}

// Parse reads when a schedule runs: a cron expression, "every 15m", "at" and a time, "in 20m",
// or a time alone. Times without an offset are in the zone. Intervals count from now.
func Parse(when string, zone *time.Location, now time.Time) (Times, error) {
	text := strings.Join(strings.Fields(when), " ")
	now = now.Truncate(time.Second)
	word, rest, _ := strings.Cut(text, " ")
	switch strings.ToLower(word) {
	case "":
		return Times{}, fmt.Errorf("it is empty: give a cron expression, every 15m, or at 2026-01-31T09:00")
	case "every", "@every":
		d, err := interval(rest)
		if err != nil {
			return Times{}, err
		}
		return Times{zone: zone, anchor: now, every: d}, nil
	case "in":
		d, err := interval(rest)
		if err != nil {
			return Times{}, err
		}
		return Times{zone: zone, anchor: now.Add(d)}, nil
	case "at":
		at, err := instant(rest, zone)
		return Times{zone: zone, anchor: at}, err
	}
	if at, err := instant(text, zone); err == nil {
		return Times{zone: zone, anchor: at}, nil
	}
	c, err := parseCron(text)
	if err != nil {
		return Times{}, err
	}
	t := Times{cron: c, zone: zone}
	if _, ok := t.Next(now); !ok {
		return Times{}, fmt.Errorf("%q never comes", text)
	}
	return t, nil
}

// layouts are those of times without an offset.
var layouts = []string{"2006-01-02T15:04:05", "2006-01-02T15:04", "2006-01-02 15:04:05", "2006-01-02 15:04"}

func instant(text string, zone *time.Location) (time.Time, error) {
	for _, layout := range []string{time.RFC3339, "2006-01-02 15:04:05Z07:00", "2006-01-02T15:04Z07:00"} {
		if at, err := time.Parse(layout, text); err == nil {
			return at.Truncate(time.Second), nil
		}
	}
	for _, layout := range layouts {
		if at, err := time.Parse(layout, text); err == nil {
			return resolve(at.Unix(), zone), nil
		}
	}
	return time.Time{}, fmt.Errorf("%q is not a time such as 2026-01-31T09:00 or 2026-01-31T09:00:00+01:00", text)
}

// amount is one part of an interval.
var amount = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(\d+) ?(seconds?|secs?|s|minutes?|mins?|m|hours?|hrs?|h|days?|d|weeks?|w) ?`)
})

func interval(text string) (time.Duration, error) {
	text = strings.ToLower(text)
	if text != "" && (text[0] < '0' || text[0] > '9') {
		text = "1 " + text // every hour
	}
	var sum time.Duration
	for rest := text; ; {
		part := amount().FindStringSubmatch(rest)
		if part == nil {
			break
		}
		unit := map[byte]time.Duration{'s': time.Second, 'm': time.Minute, 'h': time.Hour, 'd': 24 * time.Hour, 'w': 7 * 24 * time.Hour}[part[2][0]]
		var n int64
		if _, err := fmt.Sscan(part[1], &n); err != nil || n > int64(100*366*24*time.Hour/unit) {
			return 0, fmt.Errorf("%q is too long", text)
		}
		sum += time.Duration(n) * unit
		if rest = rest[len(part[0]):]; rest == "" {
			if sum < time.Second {
				return 0, fmt.Errorf("%q is shorter than a second", text)
			}
			return sum, nil
		}
	}
	return 0, fmt.Errorf("%q is not a duration such as 30s, 15m, 1h30m or 2 days", text)
}

// Once returns the only slot; ok = false if there are more.
func (t Times) Once() (at time.Time, ok bool) { return t.anchor, t.cron == nil && t.every == 0 }

// Either reports whether a day matches by its day of month or its day of week.
func (t Times) Either() bool { return t.cron != nil && t.cron.either }

// Next returns the first slot after a time, in the zone; false if there is none.
func (t Times) Next(after time.Time) (time.Time, bool) {
	var next time.Time
	switch {
	case t.cron != nil:
		at, ok := t.cron.next(after, t.zone)
		if !ok {
			return at, false
		}
		next = at
	case t.every == 0:
		if next = t.anchor; !next.After(after) {
			return time.Time{}, false
		}
	case after.Before(t.anchor):
		next = t.anchor.Add(t.every)
	default:
		next = t.anchor.Add((after.Sub(t.anchor)/t.every + 1) * t.every)
	}
	return next.In(t.zone), true
}
