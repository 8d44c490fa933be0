package app

import (
	"toolcrib/server"
	"toolcrib/tools"
)

// instructions returns what a client tells its model of the server.
func (p *Process) instructions(roots []string, enabled []tools.Tool, outlasts bool) string {
	told := ""
	if outlasts {
		told = server.Outlasting(enabled)
	}
	return server.Instructions(roots, enabled, told)
}
