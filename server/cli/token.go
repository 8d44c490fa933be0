package cli

import (
	"context"
	"fmt"

	"toolcrib/server/config"
	"toolcrib/server/identity"
)

type token struct{}

func tokenCommand() command {
	return command{
		name:  "token",
		args:  "new NAME",
		short: "make a token for a client that calls over HTTP",
		long: `
It prints the token, which nothing keeps, and the entry for the configuration
file, which has only its hash. NAME is the principal of the client's calls: in
the audit log, in rules, and in the name of its directory.`,
		new: func() runner { return new(token) },
	}
}

func (*token) run(_ context.Context, p *Process, args []string) error {
	if len(args) != 2 || args[0] != "new" {
		return config.Usagef("toolcrib token new NAME", "token wants the word new and a name")
	}
	made, hash := identity.NewToken()
	entry := identity.Token{Name: args[1], Hash: hash}
	if _, err := identity.StaticGate([]identity.Token{entry}, nil); err != nil {
		return &config.UsageError{Err: err, Hint: "toolcrib token new NAME"}
	}
	_, err := fmt.Fprintf(p.Stdout, `Give the client this token; it is shown once:

  %s

Put this into the configuration file of the server:

  tokens:
    - name: %s
      hash: %s
      # scopes: [tools:read, tools:write]
`, made, entry.Name, entry.Hash)
	return err
}
