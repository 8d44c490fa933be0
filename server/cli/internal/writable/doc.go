// Package writable asks the system whether a directory can be written. Start at [Is]. The
// package imports nothing of ours.
package writable
