package counts

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"toolcrib/tools"
)

// Usage is what the calls of one tool, made by one principal, have used of one model in a day.
type Usage struct {
	Day       string `json:"day"` // such as 2026-07-28, of the server's clock
	Tool      string `json:"tool"`
	Principal string `json:"principal"`
	tools.Usage
}

// usageKey is all of a Usage that is no number.
type usageKey struct{ day, tool, principal, model string }

func (u Usage) key() usageKey { return usageKey{u.Day, u.Tool, u.Principal, u.Model} }

// maxUsages is the most sums that a process keeps. Beyond it, principals are not told apart.
const maxUsages = 2000

// usages are sums by their keys.
type usages map[usageKey]Usage

func (us usages) add(u Usage) {
	if _, known := us[u.key()]; !known && len(us) >= maxUsages {
		u.Principal = "others"
	}
	sum := us[u.key()]
	sum.Day, sum.Tool, sum.Principal = u.Day, u.Tool, u.Principal
	sum.Usage = u.Plus(sum.Usage)
	us[u.key()] = sum
}

// sorted returns the sums, the newest first.
func (us usages) sorted() []Usage {
	return slices.SortedFunc(maps.Values(us), func(a, b Usage) int {
		return cmp.Or(strings.Compare(b.Day, a.Day), strings.Compare(a.Model, b.Model), strings.Compare(a.Tool, b.Tool), strings.Compare(a.Principal, b.Principal))
	})
}

// Use counts what a call has used of a model.
func (m *Calls) Use(u Usage) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.used == nil {
		m.used = usages{}
	}
	m.used.add(u)
}

func (m *Calls) usage() []Usage {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.used.sorted()
}

// SumUsage adds up sums.
func SumUsage(lists ...[]Usage) []Usage {
	sum := usages{}
	for _, list := range lists {
		for _, u := range list {
			sum.add(u)
		}
	}
	return sum.sorted()
}

// UsedSince returns what was used between two snapshots.
func (s Stats) UsedSince(before Stats) (list []Usage) {
	earlier := usages{}
	for _, u := range before.Used {
		earlier[u.key()] = u
	}
	for _, u := range s.Used {
		if u.Usage = u.Minus(earlier[u.key()].Usage); u.Turns > 0 {
			list = append(list, u)
		}
	}
	return list
}
