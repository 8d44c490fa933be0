package slots

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// cron is an expression as sets of bits.
type cron struct {
	second, minute, hour, day, month, weekday uint64
	last                                      bool // L: the last day of the month
	either                                    bool // of day and weekday one suffices
	hourly                                    bool // the hour is *
}

type field struct {
	name     string
	min, max int
	names    []string // of the values from min on
	star     int      // the last value of *, 0 = max
}

var (
	months   = []string{"jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"}
	weekdays = []string{"sun", "mon", "tue", "wed", "thu", "fri", "sat"}
	fields   = [6]field{
		{name: "second", max: 59}, {name: "minute", max: 59}, {name: "hour", max: 23},
		{name: "day of month", min: 1, max: 31}, {name: "month", min: 1, max: 12, names: months},
		{name: "day of week", max: 7, star: 6, names: weekdays}, // 7 is Sunday again
	}
	nicknames = map[string]string{
		"@yearly": "0 0 1 1 *", "@annually": "0 0 1 1 *", "@monthly": "0 0 1 * *", "@weekly": "0 0 * * 0",
		"@daily": "0 0 * * *", "@midnight": "0 0 * * *", "@hourly": "0 * * * *",
	}
)

func parseCron(text string) (*cron, error) {
	expression := text
	if full, ok := nicknames[strings.ToLower(text)]; ok {
		expression = full
	}
	parts := strings.Fields(expression)
	switch len(parts) {
	case 5:
		parts = append([]string{"0"}, parts...)
	case 6:
	default:
		return nil, fmt.Errorf("%q is no cron expression: it has %d fields, not minute hour day month weekday, or a second before these", text, len(parts))
	}
	var c cron
	for i, set := range []*uint64{&c.second, &c.minute, &c.hour, &c.day, &c.month, &c.weekday} {
		var err error
		if i == 3 && strings.EqualFold(parts[i], "l") {
			c.last = true
			continue
		}
		if *set, err = fields[i].parse(parts[i]); err != nil {
			return nil, fmt.Errorf("%q: %w", text, err)
		}
	}
	if c.weekday&(1<<7) != 0 {
		c.weekday |= 1
	}
	every := func(part string) bool { return part == "*" || part == "?" }
	c.either = !every(parts[3]) && !every(parts[5])
	c.hourly = every(parts[2])
	return &c, nil
}

// parse returns the values of a field as bits.
func (f field) parse(text string) (set uint64, err error) {
	for item := range strings.SplitSeq(text, ",") {
		values, by, stepped := strings.Cut(item, "/")
		step := 1
		if stepped {
			if step, err = strconv.Atoi(by); err != nil || step < 1 {
				return 0, fmt.Errorf("%s %q: the step is not a number from 1 on", f.name, item)
			}
		}
		low, high := f.min, f.max
		switch first, second, isRange := strings.Cut(values, "-"); {
		case values == "*" || values == "?":
			high = cmp.Or(f.star, f.max)
		case isRange:
			if low, err = f.value(first); err != nil {
				return 0, err
			}
			if high, err = f.value(second); err != nil {
				return 0, err
			}
			if low > high {
				return 0, fmt.Errorf("%s %q: it ends before it begins", f.name, item)
			}
		default:
			if low, err = f.value(first); err != nil {
				return 0, err
			}
			if !stepped {
				high = low
			}
		}
		for v := low; v <= high; v += step {
			set |= 1 << v
		}
	}
	return set, nil
}

func (f field) value(text string) (int, error) {
	for i, name := range f.names {
		if strings.EqualFold(text, name) {
			return f.min + i, nil
		}
	}
	v, err := strconv.Atoi(text)
	if err != nil || v < f.min || v > f.max {
		return 0, fmt.Errorf("%s %q: it is not from %d to %d", f.name, text, f.min, f.max)
	}
	return v, nil
}

// horizon is how far next looks: the 29th of February is up to eight years away, and may then
// be on the wrong day of the week for some more.
const horizon = 50

// A wall time is counted in seconds as if its zone were UTC.

// next returns the first slot after a time.
func (c *cron) next(after time.Time, zone *time.Location) (time.Time, bool) {
	at := time.Unix(after.Unix(), 0).In(zone)
	if c.hourly {
		return c.nextReal(at)
	}
	// Wall times never come before earlier ones, so the search begins at the wall time of
	// after; that of a repeated hour may be behind it already.
	for w := wall(at) - 1; ; {
		var ok bool
		if w, ok = c.nextWall(w); !ok {
			return time.Time{}, false
		}
		if t := resolve(w, zone); t.After(after) {
			return t, true
		}
	}
}

// nextReal returns the first instant after a time whose wall time matches.
func (c *cron) nextReal(at time.Time) (time.Time, bool) {
	limit := at.AddDate(horizon, 0, 0)
	from := at.Unix() + 1
	for from < limit.Unix() {
		begin := time.Unix(from, 0).In(at.Location())
		_, offset := begin.Zone()
		w, ok := c.nextWall(wall(begin) - 1)
		if !ok {
			return time.Time{}, false
		}
		t := time.Unix(w-int64(offset), 0).In(at.Location())
		_, end := begin.ZoneBounds()
		if end.IsZero() || t.Before(end) {
			return t, true
		}
		from = end.Unix()
	}
	return time.Time{}, false
}

func wall(t time.Time) int64 {
	_, offset := t.Zone()
	return t.Unix() + int64(offset)
}

// resolve returns the instant of a wall time: the first if there are two, the end of the gap
// if there is none.
func resolve(w int64, zone *time.Location) time.Time {
	const day = 24 * 60 * 60
	// Every instant that can have this wall time is in one of the periods from a day before.
	for t := time.Unix(w-day, 0).In(zone); ; {
		_, offset := t.Zone()
		_, end := t.ZoneBounds()
		at := time.Unix(w-int64(offset), 0).In(zone)
		if end.IsZero() || at.Before(end) {
			if at.Before(t) {
				return t // the period before ended too early, and this one begins too late
			}
			return at
		}
		t = end
	}
}

// nextWall returns the first wall time after another that matches.
func (c *cron) nextWall(w int64) (int64, bool) {
	t := time.Unix(w+1, 0).UTC()
	year, month, day := t.Date()
	hour, minute, second := t.Clock()
	for limit := year + horizon; year <= limit; {
		if c.month&(1<<month) == 0 || day > daysIn(year, month) {
			month, day, hour, minute, second = month+1, 1, 0, 0, 0
			if month > 12 {
				year, month = year+1, 1
			}
			continue
		}
		if !c.matches(year, month, day) {
			day, hour, minute, second = day+1, 0, 0, 0
			continue
		}
		var ok bool
		if hour, minute, second, ok = c.clock(hour, minute, second); ok {
			return time.Date(year, month, day, hour, minute, second, 0, time.UTC).Unix(), true
		}
		day, hour, minute, second = day+1, 0, 0, 0
	}
	return 0, false
}

func daysIn(year int, month time.Month) int {
	return time.Date(year, month+1, 0, 0, 0, 0, 0, time.UTC).Day()
}

func (c *cron) matches(year int, month time.Month, day int) bool {
	byDay := c.day&(1<<day) != 0 || c.last && day == daysIn(year, month)
	byWeekday := c.weekday&(1<<time.Date(year, month, day, 0, 0, 0, 0, time.UTC).Weekday()) != 0
	if c.either {
		return byDay || byWeekday
	}
	return byDay && byWeekday
}

// clock returns the first matching time of a day that is not before another.
func (c *cron) clock(hour, minute, second int) (h, m, s int, ok bool) {
	for h = hour; h < 24; h, minute, second = h+1, 0, 0 {
		if c.hour&(1<<h) == 0 {
			continue
		}
		for m = minute; m < 60; m, second = m+1, 0 {
			if c.minute&(1<<m) == 0 {
				continue
			}
			for s = second; s < 60; s++ {
				if c.second&(1<<s) != 0 {
					return h, m, s, true
				}
			}
		}
	}
	return 0, 0, 0, false
}
