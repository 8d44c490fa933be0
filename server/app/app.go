// Package app puts a running server together from a configuration: it opens the
// workspaces, the audit log, the exporter of telemetry and the runner, applies the
// settings of the categories, and serves until the end, also in the background and over
// HTTP. A reload brings a changed configuration into it.
//
// It knows settings by way of server/config, and no command: that is server/cli. It must
// not import a category of tools. Start at [Process.Open], then [Process.Serve].
package app

import (
	"io"

	"toolcrib/server"
	"toolcrib/server/config"
	"toolcrib/server/run"
)

// Process is what a server may touch of the process that it runs in.
type Process struct {
	config.Env
	Version string   // of the program
	Args    []string // without the program's name
	Stdin   io.Reader
	Stdout  io.Writer
	Stderr  io.Writer
	// Hooks are called around each call, before those of the configuration.
	Hooks run.Hooks
	// Caller is what the tools call others through; nil = none do.
	Caller *run.Caller
	// Fixtures are served besides the catalog.
	Fixtures server.Fixtures
}
