// Package background is how work goes on behind calls without slowing them down.
//
// It imports nothing of toolcrib. Start at [Pace].
package background
