package web

import (
	"context"
	"crypto/tls"
	"time"

	"toolcrib/tools"
	"toolcrib/tools/internal/browser"
	"toolcrib/tools/internal/document/linked"
	"toolcrib/tools/internal/programs/sandbox"
	"toolcrib/tools/outbound"
)

// NewTools returns the tools and the resources of the category in a network that network makes, whose
// certificates trust accepts, with jobs that have opened ports, and with pauses between the
// requests of a crawl. file is what the tools of other categories read the web by.
func NewTools(set Settings, network func(outbound.Rules) outbound.Rules, trust *tls.Config, opened func(string, int) bool, pace time.Duration) (list []tools.Tool, sources []tools.Source, file func(context.Context, string, int64) (*outbound.Page, error)) {
	client := new(outbound.Client)
	e := newEngine(deps{client: func() *outbound.Client { return client }, browser: browser.New(sandbox.New()), readers: new(linked.Readers), grants: new(outbound.Grants), network: network, trust: trust, opened: opened, pace: pace})
	e.settings.Apply(&set, tools.Setup{})
	return e.tools(), e.sources(), e.file
}

// Outside is the reminder in each result.
const Outside = outside
