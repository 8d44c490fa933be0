package telemetry

import "time"

// Page words the metrics for Prometheus at a given moment.
func (s Sources) Page(now time.Time) []byte { return s.page(now) }
