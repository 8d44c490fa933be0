//go:build race

package tooltest

const slowdown = 10
