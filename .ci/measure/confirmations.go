package main

import (
	"context"
	"regexp"
)

// confirmations plays what can happen to a question, in each revision under each
// --confirm, and compares the rules of the policy with a slow judge.
func confirmations(ctx context.Context, _ environment) error {
	return suite(ctx, nil, "./server ./server/run", "^TestConfirmations$|^TestRulesAgainstTheSlowJudge$", regexp.MustCompile(`confirmations:|differences`))
}
