package telemetry

import (
	"runtime"
	"runtime/metrics"
	"strconv"
	"time"
)

// process are the metrics of the process, by the names that dashboards of
// Prometheus and the conventions of OpenTelemetry have for them.
func (s Sources) process(now time.Time) []metric {
	heap := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(heap)
	list := []metric{
		{prom: "toolcrib_build_info", otel: "toolcrib.build", unit: "1", help: "The version of toolcrib and of Go; the value is always 1.", points: []point{{
			labels: []label{{"version", s.Version}, {"goversion", runtime.Version()}}, value: 1,
		}}},
		{prom: "process_start_time_seconds", help: "When the server was started, in seconds of Unix time.", points: []point{{value: float64(s.Started.UnixMilli()) / 1000}}},
		{prom: "process_uptime_seconds", otel: "process.uptime", unit: "s", help: "How long the server runs.", points: []point{{value: now.Sub(s.Started).Seconds()}}},
		{prom: "go_goroutines", otel: "go.goroutine.count", unit: "{goroutine}", help: "Goroutines.", points: single(uint64(runtime.NumGoroutine()))},
		{prom: "go_memstats_heap_alloc_bytes", otel: "go.memory.used", unit: "By", help: "Bytes of the heap that are in use.", points: single(heap[0].Value.Uint64())},
	}
	u := usage()
	if u.resident > 0 {
		list = append(list, metric{prom: "process_resident_memory_bytes", otel: "process.memory.usage", unit: "By", help: "Resident memory.", points: single(u.resident)})
	}
	if u.descriptors > 0 {
		list = append(list, metric{prom: "process_open_fds", otel: "process.unix.file_descriptor.count", unit: "{file_descriptor}", help: "Open file descriptors.", points: single(u.descriptors)})
	}
	if u.cpu > 0 {
		list = append(list, metric{prom: "process_cpu_seconds_total", otel: "process.cpu.time", unit: "s", kind: counter, help: "Time of the processor, of the user and the system together.", points: []point{{value: u.cpu.Seconds()}}})
	}
	return list
}

// use has the system's figures of the process; unknown ones are 0.
type use struct {
	resident    uint64 // bytes
	descriptors uint64
	cpu         time.Duration
}

func itoa(n int) string { return strconv.Itoa(n) }
