package security

import (
	"context"
	"regexp"

	"toolcrib/.ci/measure/harness"
)

// Confirmations plays what can happen to a question, in each revision under each
// --confirm, and compares the rules of the policy with a slow judge.
func Confirmations(ctx context.Context, _ harness.Environment) error {
	return harness.Suite(ctx, nil, "./server ./server/run", "^TestConfirmations$|^TestRulesAgainstTheSlowJudge$", regexp.MustCompile(`confirmations:|differences`))
}
