package main

import (
	"context"
	"regexp"
)

// searchTools has tools found for requests in the words of users, half of which are
// held out from tuning, in the catalog beside tools of toolsets to come.
func searchTools(ctx context.Context, _ environment) error {
	return suite(ctx, nil, "./tools/bridge", "^TestRequests$", regexp.MustCompile(`requests: `))
}
