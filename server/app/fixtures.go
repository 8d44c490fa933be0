package app

import (
	"slices"

	"toolcrib/tools"
	"toolcrib/tools/catalog"
)

// addFixtures puts the tools of the fixtures before those that were chosen.
func (p *Process) addFixtures(selected *tools.Selected) {
	selected.Enabled = slices.Concat(p.Fixtures.Tools, selected.Enabled)
	selected.Listed = slices.Concat(p.Fixtures.Tools, selected.Listed)
}

// sources returns the resources of the tools that were chosen, and of the fixtures.
func (p *Process) sources(selected tools.Selected) []tools.Source {
	return slices.Concat(catalog.Sources(p.Categories, selected.Enabled), p.Fixtures.Sources)
}
