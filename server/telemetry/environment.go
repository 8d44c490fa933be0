package telemetry

import (
	"cmp"
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"toolcrib/tools/outbound"
)

// Options has the values of the variables of OpenTelemetry
// (https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables).
type Options struct {
	Traces   TraceOptions
	Metrics  MetricOptions
	resource []label
}

// TraceOptions says where traces go, and which.
type TraceOptions struct {
	target
	sampler      sampler
	Queue, Batch int           // spans
	Delay        time.Duration // that a span waits for others at most
}

// MetricOptions says where metrics go, and how often.
type MetricOptions struct {
	target
	Interval time.Duration
}

// target is a collector; without a URL there is none. Its headers are secrets.
type target struct {
	url     string
	client  *outbound.Client
	headers [][2]string
	timeout time.Duration // of one request
	gzip    bool
}

// On reports whether anything is exported.
func (o Options) On() bool { return o.Traces.url != "" || o.Metrics.url != "" }

// FromEnv reads the variables. Without an endpoint everything is off. The error
// names every variable that cannot be followed. The exports that such a variable concerns
// are off too. The error is no reason to stop: these variables are meant for all programs
// of the user.
func FromEnv(getenv func(string) string, version string) (Options, error) {
	r := reader{getenv: getenv}
	var o Options
	if strings.EqualFold(getenv("OTEL_SDK_DISABLED"), "true") {
		return o, nil
	}
	o.resource = r.resource(version)
	o.Traces = TraceOptions{
		target:  r.target("TRACES", "/v1/traces"),
		sampler: r.sampler(),
		Queue:   int(r.number("OTEL_BSP_MAX_QUEUE_SIZE", 2048, 1, 1<<16)),
		Delay:   r.millis("OTEL_BSP_SCHEDULE_DELAY", 5*time.Second),
	}
	o.Traces.Batch = int(r.number("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", min(512, int64(o.Traces.Queue)), 1, int64(o.Traces.Queue)))
	o.Metrics = MetricOptions{
		target:   r.target("METRICS", "/v1/metrics"),
		Interval: r.millis("OTEL_METRIC_EXPORT_INTERVAL", time.Minute),
	}
	if !o.On() {
		return Options{}, errors.Join(r.problems...)
	}
	return o, errors.Join(r.problems...)
}

// reader reads variables and collects their errors.
type reader struct {
	getenv   func(string) string
	problems []error
}

func (r *reader) problem(format string, args ...any) {
	r.problems = append(r.problems, fmt.Errorf(format, args...))
}

// signal returns a variable of the exporter, that of the signal before the common.
func (r *reader) signal(signal, name string) (variable, value string) {
	variable = "OTEL_EXPORTER_OTLP_" + signal + "_" + name
	if value = r.getenv(variable); value == "" {
		variable = "OTEL_EXPORTER_OTLP_" + name
		value = r.getenv(variable)
	}
	return variable, strings.TrimSpace(value)
}

// target reads where a signal goes. An endpoint of the signal is taken as it is, to
// the common one its path is added.
func (r *reader) target(signal, path string) target {
	variable, endpoint := r.signal(signal, "ENDPOINT")
	exporter := r.getenv("OTEL_" + signal + "_EXPORTER")
	switch {
	case endpoint == "" || exporter == "none":
		return target{}
	case exporter != "" && exporter != "otlp":
		r.problem("OTEL_%s_EXPORTER=%s: only otlp and none are known", signal, exporter)
		return target{}
	}
	if variable, protocol := r.signal(signal, "PROTOCOL"); protocol != "" && protocol != "http/protobuf" {
		r.problem("%s=%s: only http/protobuf is spoken; set OTEL_EXPORTER_OTLP_%s_PROTOCOL", variable, protocol, signal)
		return target{}
	}
	u, err := url.Parse(endpoint)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		r.problem("%s is no URL such as http://localhost:4318", variable) // it may hold a password
		return target{}
	}
	if variable == "OTEL_EXPORTER_OTLP_ENDPOINT" {
		u = u.JoinPath(path)
	}
	password := u.User
	u.User = nil
	t := target{url: u.String()}
	if t.client, err = outbound.To(t.url); err != nil {
		r.problem("%s is no URL such as http://localhost:4318: %v", variable, err)
		return target{}
	}
	if password != nil {
		secret, _ := password.Password()
		code := base64.StdEncoding.EncodeToString([]byte(password.Username() + ":" + secret))
		t.headers = append(t.headers, [2]string{"Authorization", "Basic " + code})
	}
	variable, text := r.signal(signal, "HEADERS")
	for _, pair := range r.pairs(variable, text) {
		if !safeHeader(pair[0]) || !safeHeader(pair[1]) {
			r.problem("%s: a header has more than one line", variable)
			return target{}
		}
		t.headers = append(t.headers, pair)
	}
	variable, text = r.signal(signal, "TIMEOUT")
	t.timeout = r.parseMillis(variable, text, 10*time.Second)
	switch variable, text = r.signal(signal, "COMPRESSION"); text {
	case "", "none":
	case "gzip":
		t.gzip = true
	default:
		r.problem("%s=%s: only gzip and none are known", variable, text)
	}
	return t
}

// pairs reads key=value,key=value with percent-encoded values. It never repeats a
// value, which may be a secret.
func (r *reader) pairs(variable, text string) (list [][2]string) {
	for i, item := range strings.Split(text, ",") {
		if strings.TrimSpace(item) == "" {
			continue
		}
		key, value, ok := strings.Cut(item, "=")
		key = strings.TrimSpace(key)
		decoded, err := url.PathUnescape(strings.TrimSpace(value))
		if !ok || key == "" || err != nil {
			r.problem("%s: entry %d is not key=value", variable, i+1)
			continue
		}
		list = append(list, [2]string{key, decoded})
	}
	return list
}

// resource says whose telemetry it is.
func (r *reader) resource(version string) []label {
	host, _ := os.Hostname() // without one, the collector may know it
	values := map[string]string{"service.version": version, "process.pid": itoa(os.Getpid()), "host.name": host}
	order := []string{"service.name", "service.version", "process.pid", "host.name"}
	for _, pair := range r.pairs("OTEL_RESOURCE_ATTRIBUTES", r.getenv("OTEL_RESOURCE_ATTRIBUTES")) {
		if _, twice := values[pair[0]]; !twice && pair[0] != "service.name" {
			order = append(order, pair[0])
		}
		values[pair[0]] = pair[1]
	}
	values["service.name"] = cmp.Or(r.getenv("OTEL_SERVICE_NAME"), values["service.name"], "toolcrib")
	var list []label
	for _, key := range order {
		if values[key] != "" {
			list = append(list, label{key, values[key]})
		}
	}
	return list
}

func (r *reader) sampler() sampler {
	name := cmp.Or(r.getenv("OTEL_TRACES_SAMPLER"), "parentbased_always_on")
	rest, byParent := strings.CutPrefix(name, "parentbased_")
	s := sampler{byParent: byParent, ratio: 1}
	switch rest {
	case "always_on":
	case "always_off":
		s.ratio = 0
	case "traceidratio":
		if arg := r.getenv("OTEL_TRACES_SAMPLER_ARG"); arg != "" {
			ratio, err := strconv.ParseFloat(arg, 64)
			if err != nil || !(ratio >= 0 && ratio <= 1) {
				r.problem("OTEL_TRACES_SAMPLER_ARG=%s is no number from 0 to 1; everything is sampled", arg)
				break
			}
			s.ratio = ratio
		}
	default:
		r.problem("OTEL_TRACES_SAMPLER=%s is not known; parentbased_always_on is taken", name)
		return sampler{byParent: true, ratio: 1}
	}
	return s
}

func (r *reader) millis(variable string, otherwise time.Duration) time.Duration {
	return r.parseMillis(variable, r.getenv(variable), otherwise)
}

func (r *reader) parseMillis(variable, text string, otherwise time.Duration) time.Duration {
	return time.Duration(r.parse(variable, text, otherwise.Milliseconds(), 1, time.Hour.Milliseconds())) * time.Millisecond
}

func (r *reader) number(variable string, otherwise, low, high int64) int64 {
	return r.parse(variable, r.getenv(variable), otherwise, low, high)
}

func (r *reader) parse(variable, text string, otherwise, low, high int64) int64 {
	if text == "" {
		return otherwise
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < low || n > high {
		r.problem("%s=%s is no number from %d to %d; %d is taken", variable, text, low, high, otherwise)
		return otherwise
	}
	return n
}

// safeHeader refuses what would break a header into two.
func safeHeader(text string) bool { return !strings.ContainsAny(text, "\r\n\x00") }
