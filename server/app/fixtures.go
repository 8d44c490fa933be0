package app

import (
	"slices"

	"toolcrib/server/conformance"
	"toolcrib/tools"
	"toolcrib/tools/catalog"
)

// fixturesOf returns what the conformance suite of the protocol wants of a server, nothing
// where that is not asked for. Its tools are put before the selected.
func fixturesOf(wanted bool, selected *tools.Selected) conformance.Fixtures {
	if !wanted {
		return conformance.Fixtures{}
	}
	f := conformance.New()
	selected.Enabled = slices.Concat(f.Tools, selected.Enabled)
	selected.Listed = slices.Concat(f.Tools, selected.Listed)
	return f
}

// sources are what goes with the tools that were chosen, and the fixtures.
func (p *Process) sources(selected tools.Selected, f conformance.Fixtures) []tools.Source {
	return slices.Concat(catalog.Sources(p.Categories, selected.Enabled), f.Sources)
}
