// Package app builds a running server from a configuration: it opens the workspaces, the
// audit log, the exporter of telemetry and the runner, applies the settings of the
// categories, and serves until the end, also in the background and over HTTP. A reload
// applies a changed configuration.
//
// It reads settings through server/config and knows no commands, which are in server/cli.
// It must not import a category of tools. Start at [Process.Open], then [Process.Serve].
package app

import (
	"io"

	"toolcrib/server"
	"toolcrib/server/config"
	"toolcrib/server/run"
)

// Process is the part of its process that a server may use.
type Process struct {
	config.Env
	Version string   // of the program
	Args    []string // without the program's name
	Stdin   io.Reader
	Stdout  io.Writer
	Stderr  io.Writer
	// Hooks are called around each call, before those of the configuration.
	Hooks run.Hooks
	// Caller lets tools call other tools; nil = none do.
	Caller *run.Caller
	// Fixtures are served in addition to the catalog.
	Fixtures server.Fixtures
}
