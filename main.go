// Command toolcrib serves a catalog of typed tools to MCP clients.
//
// This file passes the process and the catalog to the command line, whose commands are
// listed in server/cli. Read next: server/cli/serve.go.
package main

import (
	"context"
	"os"
	"os/exec"

	"golang.org/x/term"

	"toolcrib/server/cli"
	"toolcrib/server/run"
	"toolcrib/tools/catalog"
)

func main() {
	if exit, was := catalog.Program(os.Args[1:]); was {
		os.Exit(exit)
	}
	// stdout belongs to the protocol and to the results of commands. Anything else that
	// prints to os.Stdout prints to stderr.
	stdout := os.Stdout
	os.Stdout = os.Stderr
	caller := new(run.Caller)
	os.Exit(cli.Main(context.Background(), cli.Process{
		Args:       os.Args[1:],
		Environ:    os.Environ(),
		Stdin:      os.Stdin,
		Stdout:     stdout,
		Stderr:     os.Stderr,
		IsTerminal: isTerminal,
		LookPath:   exec.LookPath,
		Caller:     caller,
		Categories: catalog.All(&catalog.Services{Caller: caller, Restarts: true}),
	}))
}

// isTerminal reports whether stream is a terminal. It avoids [os.File.Fd], which would
// make reads of a pipe block a thread that a close cannot wake.
func isTerminal(stream any) bool {
	file, ok := stream.(*os.File)
	if !ok {
		return false
	}
	conn, err := file.SyscallConn()
	if err != nil {
		return false
	}
	terminal := false
	if err := conn.Control(func(fd uintptr) { terminal = term.IsTerminal(int(fd)) }); err != nil {
		return false
	}
	return terminal
}
