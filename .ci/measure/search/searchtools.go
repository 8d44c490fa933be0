package search

import (
	"context"
	"regexp"

	"toolcrib/.ci/measure/harness"
)

// Tools has tools found for requests in the words of users, part of which is
// held out from tuning, and for tools that nobody has, in the catalog as it is
// and together with tools of toolsets to come.
func Tools(ctx context.Context, _ harness.Environment) error {
	return harness.Suite(ctx, nil, "./tools/bridge", "^Test(Requests|NothingFits)$", regexp.MustCompile(`requests: `))
}
