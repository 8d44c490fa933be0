//go:build !race

package tooltest

// Slowdown is how many times longer the race detector may make work take.
const Slowdown = 1
