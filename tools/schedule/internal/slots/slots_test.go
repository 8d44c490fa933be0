package slots_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"toolcrib/tools/internal/tooltest"
	"toolcrib/tools/schedule/internal/slots"
)

func zone(t *testing.T, name string) *time.Location {
	t.Helper()
	loc, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return loc
}

func TestTimes(t *testing.T) {
	for _, c := range []struct{ when, zone, after, want string }{
		{"*/15 * * * *", "UTC", "2026-01-31T23:50:00Z", "2026-02-01T00:00:00Z 2026-02-01T00:15:00Z 2026-02-01T00:30:00Z"},
		{"0 9 * * mon-fri", "Europe/Berlin", "2026-01-02T09:00:00Z", "2026-01-05T09:00:00+01:00 2026-01-06T09:00:00+01:00 2026-01-07T09:00:00+01:00"},
		{"30 5 9 * * 1", "UTC", "2026-01-01T00:00:00Z", "2026-01-05T09:05:30Z 2026-01-12T09:05:30Z 2026-01-19T09:05:30Z"},
		{"0 0 13 * 5", "UTC", "2026-02-07T00:00:00Z", "2026-02-13T00:00:00Z 2026-02-20T00:00:00Z 2026-02-27T00:00:00Z"}, // or
		{"0 0 L * *", "UTC", "2028-01-31T00:00:00Z", "2028-02-29T00:00:00Z 2028-03-31T00:00:00Z 2028-04-30T00:00:00Z"},
		{"0 12 29 2 *", "UTC", "2096-03-01T00:00:00Z", "2104-02-29T12:00:00Z 2108-02-29T12:00:00Z 2112-02-29T12:00:00Z"},
		{"@daily", "UTC", "2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z 2026-01-03T00:00:00Z 2026-01-04T00:00:00Z"},
		{"0 0 * * 7", "UTC", "2026-01-01T00:00:00Z", "2026-01-04T00:00:00Z 2026-01-11T00:00:00Z 2026-01-18T00:00:00Z"},
		// A time that does not exist is the first instant after the gap.
		{"30 2 * * *", "Europe/Berlin", "2026-03-28T12:00:00Z", "2026-03-29T03:00:00+02:00 2026-03-30T02:30:00+02:00 2026-03-31T02:30:00+02:00"},
		{"*/20 2 * * *", "Europe/Berlin", "2026-03-28T12:00:00Z", "2026-03-29T03:00:00+02:00 2026-03-30T02:00:00+02:00 2026-03-30T02:20:00+02:00"},
		{"0 0 * * *", "Africa/Cairo", "2026-04-23T12:00:00Z", "2026-04-24T01:00:00+03:00 2026-04-25T00:00:00+03:00 2026-04-26T00:00:00+03:00"},
		{"15 2 * * *", "Australia/Lord_Howe", "2026-10-03T00:00:00Z", "2026-10-04T02:30:00+11:00 2026-10-05T02:15:00+11:00 2026-10-06T02:15:00+11:00"},
		// A day that does not exist.
		{"0 9 * * *", "Pacific/Apia", "2011-12-29T20:00:00Z", "2011-12-31T00:00:00+14:00 2011-12-31T09:00:00+14:00 2012-01-01T09:00:00+14:00"},
		// One that exists twice is the first.
		{"30 2 * * *", "Europe/Berlin", "2026-10-24T12:00:00Z", "2026-10-25T02:30:00+02:00 2026-10-26T02:30:00+01:00 2026-10-27T02:30:00+01:00"},
		{"*/30 2 * * *", "Europe/Berlin", "2026-10-25T00:30:00Z", "2026-10-26T02:00:00+01:00 2026-10-26T02:30:00+01:00 2026-10-27T02:00:00+01:00"},
		// An expression with each hour goes by real hours.
		{"30 * * * *", "Europe/Berlin", "2026-10-24T23:59:00Z", "2026-10-25T02:30:00+02:00 2026-10-25T02:30:00+01:00 2026-10-25T03:30:00+01:00"},
		{"30 * * * *", "Europe/Berlin", "2026-03-29T00:00:00Z", "2026-03-29T01:30:00+01:00 2026-03-29T03:30:00+02:00 2026-03-29T04:30:00+02:00"},
		// Intervals count from now, which is the time after which the test looks.
		{"every 15m", "UTC", "2026-01-01T00:00:07Z", "2026-01-01T00:15:07Z 2026-01-01T00:30:07Z 2026-01-01T00:45:07Z"},
		{"every 1 day 2 hours", "UTC", "2026-01-01T00:00:00Z", "2026-01-02T02:00:00Z 2026-01-03T04:00:00Z 2026-01-04T06:00:00Z"},
		{"every hour", "UTC", "2026-01-01T00:00:00Z", "2026-01-01T01:00:00Z 2026-01-01T02:00:00Z 2026-01-01T03:00:00Z"},
		{"in 90s", "UTC", "2026-01-01T00:00:00Z", "2026-01-01T00:01:30Z"},
		{"at 2026-07-01 09:00", "America/New_York", "2026-01-01T00:00:00Z", "2026-07-01T09:00:00-04:00"},
		{"2026-07-01T09:00:00+02:00", "UTC", "2026-01-01T00:00:00Z", "2026-07-01T07:00:00Z"},
		{"at 2026-03-29T02:30", "Europe/Berlin", "2026-01-01T00:00:00Z", "2026-03-29T03:00:00+02:00"},
	} {
		after, err := time.Parse(time.RFC3339, c.after)
		if err != nil {
			t.Fatal(err)
		}
		times, err := slots.Parse(c.when, zone(t, c.zone), after)
		if err != nil {
			t.Errorf("%s: %v", c.when, err)
			continue
		}
		var got []string
		for at := after; len(got) < 3; {
			next, ok := times.Next(at)
			if !ok {
				break
			}
			got = append(got, next.Format(time.RFC3339))
			at = next
		}
		if text := strings.Join(got, " "); text != c.want {
			t.Errorf("%s in %s after %s:\n got %s\nwant %s", c.when, c.zone, c.after, text, c.want)
		}
	}
}

func TestRefused(t *testing.T) {
	for when, want := range map[string]string{
		"":                     "empty",
		"0 0 30 2 *":           "never comes",
		"0 0 31 4,6 *":         "never comes",
		"* * * *":              "4 fields",
		"60 * * * *":           "minute \"60\": it is not from 0 to 59",
		"0 0 0 * *":            "day of month \"0\"",
		"0 0 * * fri-mon":      "ends before it begins",
		"*/0 * * * *":          "step",
		"every 0s":             "shorter than a second",
		"every blue moon":      "not a duration",
		"every 500ms":          "not a duration",
		"at noon":              "not a time",
		"every 9999999999999d": "too long",
	} {
		if _, err := slots.Parse(when, time.UTC, time.Unix(0, 0)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", when, err)
		}
	}
}

// expression is a random one, as text and as a test of its fields that shares nothing with
// the package: its values are listed one by one.
type expression struct {
	text    string
	holds   [6]map[int]bool
	hourly  bool
	dayStar bool
	dowStar bool
}

func random(r *rand.Rand) expression {
	var e expression
	bounds := [6][2]int{{0, 59}, {0, 59}, {0, 23}, {1, 31}, {1, 12}, {0, 6}}
	var parts []string
	for i, b := range bounds {
		holds := map[int]bool{}
		var part string
		switch n := r.IntN(6); {
		case i == 0:
			v := []int{0, 0, 0, 30}[r.IntN(4)]
			part, holds[v] = fmt.Sprint(v), true
		case n < 2:
			part = "*"
			for v := b[0]; v <= b[1]; v++ {
				holds[v] = true
			}
		case n == 2:
			step := 1 + r.IntN(b[1])
			part = fmt.Sprintf("*/%d", step)
			for v := b[0]; v <= b[1]; v += step {
				holds[v] = true
			}
		case n == 3:
			low := b[0] + r.IntN(b[1]-b[0]+1)
			high := low + r.IntN(b[1]-low+1)
			part = fmt.Sprintf("%d-%d", low, high)
			for v := low; v <= high; v++ {
				holds[v] = true
			}
		default:
			var list []string
			for range 1 + r.IntN(3) {
				v := b[0] + r.IntN(b[1]-b[0]+1)
				if i == 2 && r.IntN(2) == 0 {
					v = r.IntN(4) // the hours in which clocks change
				}
				if !holds[v] { // cron-parser refuses one that comes twice
					holds[v] = true
					list = append(list, fmt.Sprint(v))
				}
			}
			part = strings.Join(list, ",")
		}
		parts = append(parts, part)
		e.holds[i] = holds
	}
	e.hourly, e.dayStar, e.dowStar = parts[2] == "*", parts[3] == "*", parts[5] == "*"
	e.text = strings.Join(parts, " ")
	return e
}

// matches reports whether a wall time matches.
func (e expression) matches(year int, month time.Month, day, hour, minute, second int) bool {
	if !e.holds[0][second] || !e.holds[1][minute] || !e.holds[2][hour] || !e.holds[4][int(month)] {
		return false
	}
	dom, dow := e.holds[3][day], e.holds[5][int(time.Date(year, month, day, 0, 0, 0, 0, time.UTC).Weekday())]
	if !e.dayStar && !e.dowStar {
		return dom || dow
	}
	return dom && dow
}

// oracle returns the slots from one time to another by looking at each half minute of real
// time, and at each wall time that a jump of the clock leaves out.
func (e expression) oracle(from, to time.Time) []time.Time {
	const tick = 30
	var all []time.Time
	seen := map[[6]int]bool{}
	before := wallOf(from.Add(-tick * time.Second))
	// Wall times up to a day ago count as seen, if they were there.
	for t := from.Add(-25 * time.Hour); t.Before(from); t = t.Add(tick * time.Second) {
		seen[key(wallOf(t))] = true
	}
	for t := from; !t.After(to); t = t.Add(tick * time.Second) {
		w := wallOf(t)
		hit := false
		if e.hourly {
			hit = e.at(w)
		} else {
			for skipped := before.Add(tick * time.Second); skipped.Before(w); skipped = skipped.Add(tick * time.Second) {
				hit = hit || e.at(skipped) && !seen[key(skipped)]
			}
			hit = hit || e.at(w) && !seen[key(w)]
		}
		seen[key(w)] = true
		before = w
		if hit {
			all = append(all, t)
		}
	}
	return all
}

// wallOf returns the wall time as if it were UTC.
func wallOf(t time.Time) time.Time {
	return time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), 0, time.UTC)
}

func key(w time.Time) [6]int {
	return [6]int{w.Year(), int(w.Month()), w.Day(), w.Hour(), w.Minute(), w.Second()}
}

func (e expression) at(w time.Time) bool {
	return e.matches(w.Year(), w.Month(), w.Day(), w.Hour(), w.Minute(), w.Second())
}

// Random expressions around changes of the clock, against an oracle that only looks.
func TestOracle(t *testing.T) {
	tooltest.Unraced(t)
	r := rand.New(rand.NewPCG(1, 2))
	changes := []struct{ zone, at string }{
		{"Europe/Berlin", "2026-03-29"}, {"Europe/Berlin", "2026-10-25"}, {"America/New_York", "2026-03-08"}, {"America/New_York", "2026-11-01"},
		{"Australia/Lord_Howe", "2026-04-05"}, {"Australia/Lord_Howe", "2026-10-04"}, {"Africa/Cairo", "2026-04-24"}, {"Africa/Cairo", "2026-10-30"},
		{"Pacific/Apia", "2011-12-30"}, {"America/Havana", "2026-03-08"}, {"America/Havana", "2026-11-01"}, {"Asia/Kathmandu", "2026-05-05"},
		{"Africa/Casablanca", "2026-02-15"}, {"Africa/Casablanca", "2026-03-22"}, {"America/Santiago", "2026-04-05"}, {"America/Santiago", "2026-09-06"},
	}
	n := 600
	if testing.Short() {
		n = 300
	}
	for range n {
		e := random(r)
		change := changes[r.IntN(len(changes))]
		loc := zone(t, change.zone)
		day, err := time.ParseInLocation("2006-01-02", change.at, loc)
		if err != nil {
			t.Fatal(err)
		}
		from := day.Add(-time.Duration(12+r.IntN(24)) * time.Hour).Truncate(time.Hour)
		to := from.Add(72 * time.Hour)
		times, err := slots.Parse(e.text, loc, from)
		if err != nil {
			if strings.Contains(err.Error(), "never comes") {
				continue
			}
			t.Fatalf("%s: %v", e.text, err)
		}
		want := e.oracle(from, to)
		at := from.Add(-time.Second)
		for i := 0; ; i++ {
			next, ok := times.Next(at)
			if !ok || next.After(to) {
				if i < len(want) {
					t.Errorf("%s in %s from %s: slot %d is missing: %s", e.text, change.zone, from, i, want[i])
				}
				break
			}
			if i >= len(want) || !next.Equal(want[i]) {
				expected := "none"
				if i < len(want) {
					expected = want[i].String()
				}
				t.Errorf("%s in %s from %s: slot %d is %s, want %s", e.text, change.zone, from, i, next, expected)
				break
			}
			at = next
		}
		if t.Failed() {
			return
		}
	}
}
