package durations_test

import (
	"testing"
	"time"

	"toolcrib/tools/internal/durations"
)

func TestRead(t *testing.T) {
	wait := durations.Argument{Name: "wait", Default: 3 * time.Second, Most: 24 * time.Hour}
	timeout := durations.Argument{Name: "timeout", Least: time.Millisecond, Most: time.Minute}
	const form = ` (such as "90s", "5m" or "1h30m")`
	for _, tc := range []struct {
		argument durations.Argument
		text     string
		want     time.Duration
		err      string
	}{
		{argument: wait, text: "", want: 3 * time.Second},
		{argument: wait, text: " 1m 30s ", want: 90 * time.Second},
		{argument: wait, text: "0", want: 0},
		{argument: wait, text: "0s", want: 0},
		{argument: wait, text: "24h", want: 24 * time.Hour},
		{argument: wait, text: "1.5h", want: 90 * time.Minute},
		{argument: wait, text: "1e3", err: `/wait: "1e3" is not a duration` + form},
		{argument: wait, text: "NaN", err: `/wait: "NaN" is not a duration` + form},
		{argument: wait, text: "soon", err: `/wait: "soon" is not a duration` + form},
		{argument: wait, text: "-2.5", err: `/wait: -2.5 has no unit (write "-2.5s" for seconds or "-2.5ms" for milliseconds)`},
		{argument: wait, text: "-5s", err: "/wait: -5s is out of range (from 0 to 24h)"},
		{argument: wait, text: "9999999999999h", err: "/wait: 9999999999999h is out of range (from 0 to 24h)"},
		{argument: timeout, text: "1ms", want: time.Millisecond},
		{argument: timeout, text: "60s", want: time.Minute},
		{argument: timeout, text: "30", err: `/timeout: 30 has no unit (write "30s" for seconds or "30ms" for milliseconds)`},
		{argument: timeout, text: "", err: `/timeout: "" is not a duration` + form},
		{argument: timeout, text: "0s", err: "/timeout: 0s is out of range (from 1ms to 1m)"},
		{argument: timeout, text: "120m", err: "/timeout: 2h is out of range (from 1ms to 1m)"},
	} {
		got, err := tc.argument.Read(tc.text)
		said := ""
		if err != nil {
			said = err.Error()
		}
		if tc.err != "" {
			tc.err = "invalid_argument: " + tc.err
		}
		if got != tc.want || said != tc.err {
			t.Errorf("%q: %s, %s, want %s, %s", tc.text, got, said, tc.want, tc.err)
		}
	}
}

func TestWords(t *testing.T) {
	for _, tc := range []struct {
		d            time.Duration
		exact, rough string
	}{
		{0, "0s", "0 ms"},
		{3400 * time.Microsecond, "3.4ms", "3 ms"},
		{1240 * time.Millisecond, "1.24s", "1.2 s"},
		{10 * time.Second, "10s", "10 s"},
		{75 * time.Second, "1m15s", "75 s"},
		{5 * time.Minute, "5m", "5m"},
		{12*time.Minute + 5400*time.Millisecond, "12m5.4s", "12m5s"},
		{90 * time.Minute, "1h30m", "1h30m"},
		{24 * time.Hour, "24h", "24h"},
		{time.Hour + 10*time.Second, "1h0m10s", "1h0m10s"},
	} {
		if got := durations.Exact(tc.d); got != tc.exact {
			t.Errorf("exactly %q, want %q", got, tc.exact)
		}
		if got := durations.Rough(tc.d); got != tc.rough {
			t.Errorf("roughly %q, want %q", got, tc.rough)
		}
	}
}
