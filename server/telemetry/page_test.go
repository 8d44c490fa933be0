package telemetry_test

import (
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"toolcrib/server/run"
	"toolcrib/server/telemetry"
	"toolcrib/tools"
)

func sources(t *testing.T) telemetry.Sources {
	r := run.New(run.Config{Settings: run.Settings{Tools: []tools.Tool{toy()}}})
	call(t, r, "toy", `{"path":"`+secret+`"}`, run.Trace{})
	call(t, r, "toy", `{"path":"`+secret+`","fail":true}`, run.Trace{})
	call(t, r, secret, `{}`, run.Trace{})
	return telemetry.Sources{
		Version: `v1 "quoted"`, Started: time.Unix(1000, 0), Stats: r.Stats,
		Traffic: func() telemetry.Traffic {
			return telemetry.Traffic{Sessions: 3, Requests: map[int]uint64{200: 5, 401: 1}}
		},
	}
}

func TestPage(t *testing.T) {
	page := string(sources(t).Page(time.Unix(1060, 0)))
	for _, line := range []string{
		"# TYPE toolcrib_calls_total counter",
		`toolcrib_calls_total{tool="toy",outcome="ok"} 1`,
		`toolcrib_calls_total{tool="toy",outcome="conflict"} 1`,
		`toolcrib_calls_total{tool="unknown",outcome="not_found"} 1`,
		"# TYPE toolcrib_call_duration_seconds histogram",
		`toolcrib_call_duration_seconds_bucket{tool="toy",le="60"} 2`,
		`toolcrib_call_duration_seconds_bucket{tool="toy",le="+Inf"} 2`,
		`toolcrib_call_duration_seconds_count{tool="toy"} 2`,
		`toolcrib_calls_in_flight{tool="toy"} 0`,
		`toolcrib_result_bytes_total{tool="toy",kind="structured"} 0`,
		`toolcrib_http_requests_total{status="401"} 1`,
		"toolcrib_sessions 3",
		"process_start_time_seconds 1000",
		"process_uptime_seconds 60",
	} {
		if !strings.Contains(page, "\n"+line+"\n") {
			t.Errorf("the page has no line %s", line)
		}
	}
	if !strings.Contains(page, `toolcrib_build_info{version="v1 \"quoted\"",`) {
		t.Error("quotes are not escaped")
	}
	if strings.Contains(page, secret) || strings.Contains(page, "resources/read") {
		t.Error("the page has what a caller wrote, or tools that nobody called")
	}
}

func TestServePage(t *testing.T) {
	const token = "0123456789abcdef0123456789abcdef"
	for _, tc := range []struct {
		name, token, method, path, host string
		header                          map[string]string
		want                            int
	}{
		{name: "open"},
		{name: "head", method: "HEAD"},
		{name: "post", method: "POST", want: 405},
		{name: "elsewhere", path: "/", want: 404},
		{name: "a name that leads here", host: "evil.example:9464", want: 403},
		{name: "localhost", host: "LOCALHOST:9464"},
		{name: "address", host: "[::1]:9464"},
		{name: "page of a browser", header: map[string]string{"Origin": "http://127.0.0.1"}, want: 403},
		{name: "no token", token: token, want: 401},
		{name: "wrong token", token: token, header: map[string]string{"Authorization": "Bearer " + token[1:]}, want: 401},
		{name: "other scheme", token: token, header: map[string]string{"Authorization": "Basic " + token}, want: 401},
		{name: "token", token: token, host: "metrics.example", header: map[string]string{"Authorization": "bearer " + token}},
		{name: "no token for elsewhere", token: token, path: "/x", want: 401},
	} {
		t.Run(tc.name, func(t *testing.T) {
			ln, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			defer telemetry.Serve(ln, tc.token, sources(t))()
			if tc.method == "" {
				tc.method = http.MethodGet
			}
			if tc.path == "" {
				tc.path = telemetry.PagePath
			}
			if tc.want == 0 {
				tc.want = http.StatusOK
			}
			r, err := http.NewRequestWithContext(t.Context(), tc.method, "http://"+ln.Addr().String()+tc.path, http.NoBody)
			if err != nil {
				t.Fatal(err)
			}
			if tc.host != "" {
				r.Host = tc.host
			}
			for key, value := range tc.header {
				r.Header.Set(key, value)
			}
			res, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			defer res.Body.Close()
			if res.StatusCode != tc.want {
				t.Errorf("status %d, want %d", res.StatusCode, tc.want)
			}
			if tc.want == 401 && res.Header.Get("Www-Authenticate") == "" {
				t.Error("no challenge")
			}
		})
	}
}
