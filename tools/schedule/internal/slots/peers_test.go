package slots_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"toolcrib/tools/schedule/internal/slots"
)

// Random expressions around changes of clocks, beside croner and cron-parser. Their next 50
// times are equal, or the first difference is one of those that [explained] knows.
// TOOLCRIB_CRON is the number of expressions, TOOLCRIB_NPM the node_modules.
func TestPeers(t *testing.T) {
	npm := os.Getenv("TOOLCRIB_NPM")
	if npm == "" {
		t.Skip("needs: npm: TOOLCRIB_NPM, the node_modules with croner and cron-parser")
	}
	n, err := strconv.Atoi(os.Getenv("TOOLCRIB_CRON"))
	if err != nil {
		t.Fatal(err)
	}
	type question struct {
		Text string `json:"text"`
		Zone string `json:"zone"`
		From int64  `json:"from"`
		N    int    `json:"n"`
		e    expression
	}
	r := rand.New(rand.NewPCG(3, 4))
	var all []question
	var input bytes.Buffer
	for len(all) < n {
		change := peerChanges[r.IntN(len(peerChanges))]
		loc := zone(t, change.zone)
		day, err := time.ParseInLocation("2006-01-02", change.at, loc)
		if err != nil {
			t.Fatal(err)
		}
		q := question{Zone: change.zone, From: day.Add(-time.Duration(r.IntN(48)) * time.Hour).Unix(), N: 50, e: random(r)}
		q.Text = q.e.text
		if _, err := slots.Parse(q.Text, loc, time.Unix(q.From, 0)); err != nil {
			continue // it never comes
		}
		data, err := json.Marshal(q)
		if err != nil {
			t.Fatal(err)
		}
		input.Write(append(data, '\n'))
		all = append(all, q)
	}
	node := filepath.Join(npm, ".bin", "node")
	if _, err := os.Stat(node); err != nil {
		node = "node"
	}
	script, err := filepath.Abs("testdata/peers.mjs")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), node, script, npm)
	cmd.Stdin, cmd.Stderr = &input, os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(bytes.NewReader(out))
	lines.Buffer(nil, 1<<20)
	equal := map[string]int{}
	differ := map[string]map[string]int{"croner": {}, "cron-parser": {}}
	for _, q := range all {
		if !lines.Scan() {
			t.Fatal("too few answers")
		}
		var answer struct{ Croner, Parser []int64 }
		if err := json.Unmarshal(lines.Bytes(), &answer); err != nil {
			t.Fatal(err)
		}
		loc := zone(t, q.Zone)
		times, err := slots.Parse(q.Text, loc, time.Unix(q.From, 0))
		if err != nil {
			t.Fatal(err)
		}
		var ours []int64
		for at := time.Unix(q.From, 0); len(ours) < q.N; {
			next, ok := times.Next(at)
			if !ok {
				break
			}
			ours, at = append(ours, next.Unix()), next
		}
		for name, theirs := range map[string][]int64{"croner": answer.Croner, "cron-parser": answer.Parser} {
			if slices.Equal(ours, theirs) {
				equal[name]++
				continue
			}
			why := explained(q.e, loc, ours, theirs)
			differ[name][why]++
			if why == "" {
				i := 0
				for i < len(ours) && i < len(theirs) && ours[i] == theirs[i] {
					i++
				}
				show := func(list []int64) string {
					if i >= len(list) {
						return "nothing"
					}
					return time.Unix(list[i], 0).In(loc).String()
				}
				t.Errorf("%s in %s: %s has %s where we have %s, which no rule explains", q.Text, q.Zone, name, show(theirs), show(ours))
			}
		}
	}
	for name, reasons := range differ {
		var parts []string
		for why, n := range reasons {
			parts = append(parts, strconv.Itoa(n)+" "+why)
		}
		slices.Sort(parts)
		t.Logf("cron: %d expressions, 50 times each: %s is equal for %d; others: %s", len(all), name, equal[name], strings.Join(parts, ", "))
	}
}

// peerChanges are changes of clocks in twelve zones.
var peerChanges = []struct{ zone, at string }{
	{"Europe/Berlin", "2026-03-29"}, {"Europe/Berlin", "2026-10-25"}, {"America/New_York", "2026-03-08"}, {"America/New_York", "2026-11-01"},
	{"Australia/Lord_Howe", "2026-04-05"}, {"Australia/Lord_Howe", "2026-10-04"}, {"Africa/Cairo", "2026-04-24"}, {"Africa/Cairo", "2026-10-30"},
	{"Europe/London", "2026-03-29"}, {"Europe/London", "2026-10-25"}, {"America/Havana", "2026-03-08"}, {"America/Havana", "2026-11-01"},
	{"Asia/Kathmandu", "2026-05-05"}, {"America/Santiago", "2026-04-05"}, {"America/Santiago", "2026-09-06"}, {"UTC", "2026-12-31"},
	{"Pacific/Auckland", "2026-04-05"}, {"Pacific/Auckland", "2026-09-27"}, {"Australia/Sydney", "2026-04-05"}, {"America/St_Johns", "2026-11-01"},
}

// explained returns the rule by which the first difference between two lists comes about, ""
// if there is none.
func explained(e expression, loc *time.Location, ours, theirs []int64) string {
	if theirs == nil {
		return "refused by it"
	}
	i := 0
	for i < len(ours) && i < len(theirs) && ours[i] == theirs[i] {
		i++
	}
	if i == len(theirs) {
		return "without an end by its horizon"
	}
	if i == len(ours) {
		return ""
	}
	// Only times that are missing, or that come twice: as far from the change of the clock as it
	// changes.
	first := time.Unix(min(ours[i], theirs[i]), 0).In(loc)
	start, end := first.ZoneBounds()
	for _, change := range []time.Time{start, end} {
		if change.IsZero() {
			continue
		}
		_, before := change.Add(-time.Second).Zone()
		_, after := change.Zone()
		by := time.Duration(after-before) * time.Second
		switch {
		case first.Sub(change).Abs() > by.Abs():
		case by > 0:
			return "in a gap"
		default:
			return "in a repeated hour"
		}
	}
	if !e.dayStar && !e.dowStar && (strings.Contains(e.text, "*/")) {
		return "of a day or weekday by */n, which is restricted here"
	}
	return ""
}
