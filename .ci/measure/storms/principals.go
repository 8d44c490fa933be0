package storms

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"toolcrib/.ci/measure/harness"
	"toolcrib/.ci/measure/rawhttp"
	"toolcrib/server/identity"
	"toolcrib/server/run"
	"toolcrib/workspace"
)

// Principals is the storm over HTTP with a principal for each client: a token, and a
// directory whose file holds the name. Every call proves that it sees that file.
func Principals(ctx context.Context, env harness.Environment) error {
	calls := env.Of(10_000, 50)
	seed := harness.NewSeed()
	fmt.Printf("| %d principals, %d calls each | calls a second | cancelled | cut off, by disconnects | lost | doubled | crossed | refused | goroutines, descriptors |\n|---|---|---|---|---|---|---|---|---|\n",
		stormClients, calls)
	var errs []error
	for _, era := range rawhttp.Eras {
		tally := new(stormTally)
		begin := time.Now()
		err := errors.Join(stormPrincipals(ctx, era, calls, seed, tally), tally.verdict())
		fmt.Printf("| %s | %.0f | %d | %d, %d | %d | %d | %d | %d | %s |\n",
			era.Name, float64(tally.calls)/time.Since(begin).Seconds(), tally.cancelled, tally.cut, tally.disconnects,
			tally.lost, tally.doubled, tally.crossed, tally.refused, back(tally))
		for _, sample := range tally.samples {
			fmt.Printf("  %s\n", sample)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", era.Name, err))
		}
	}
	return errors.Join(errs...)
}

// principalToken is the token of a client of the storm.
func principalToken(client int) string {
	return strings.Repeat("storm-", 6) + strconv.Itoa(client)
}

func stormPrincipals(ctx context.Context, era rawhttp.Era, calls int, seed uint64, tally *stormTally) (err error) {
	dir, remove, err := harness.Temporary("principals")
	if err != nil {
		return err
	}
	defer remove()
	for i := range stormClients {
		own := filepath.Join(dir, strconv.Itoa(i))
		if err := os.Mkdir(own, 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(own, "name"), []byte(strconv.Itoa(i)), 0o600); err != nil {
			return err
		}
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	server, err := harness.Listen(ctx, false, self, "serve", "principals", "--http", "127.0.0.1:0", dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.Stop()) }()
	addr, err := server.Addr()
	if err != nil {
		return err
	}
	for i := range stormClients { // whose directories stay open for a while
		if _, err := holdingsOver(addr, principalToken(i)); err != nil {
			return err
		}
	}
	before, err := fillPools(addr, principalToken(0))
	if err != nil {
		return err
	}
	return stormOn(addr, principalToken, before, era, stormClients, calls, seed, tally)
}

// principalsOf are the tokens of the storm's clients, and their directories in dir.
func principalsOf(dir string) (*identity.Gate, *identity.Roots, error) {
	var tokens []identity.Token
	for i := range stormClients {
		tokens = append(tokens, identity.Token{Name: strconv.Itoa(i), Token: principalToken(i)})
	}
	gate, err := identity.StaticGate(tokens, nil)
	if err != nil {
		return nil, nil, err
	}
	roots, err := identity.NewRoots(filepath.Join(dir, "${sub}"), func(_ context.Context, dir string) (*workspace.Workspace, error) {
		return workspace.Open([]string{dir}, workspace.Options{})
	})
	return gate, roots, err
}

// ownFile denies a call whose workspace is not that of the client in its nonce.
func ownFile(_ context.Context, v run.View) (run.Decision, error) {
	var in struct{ Nonce string }
	if err := json.Unmarshal(v.Args, &in); err != nil {
		return run.Decision{}, err
	}
	client, _, _ := strings.Cut(in.Nonce, "-")
	if client == "pool" || client == "" { // no call of the storm
		return run.Decision{}, nil
	}
	path, err := v.Session.Workspace.Resolve("name")
	if err != nil {
		return run.Decision{}, err
	}
	f, err := path.Open()
	if err != nil {
		return run.Decision{}, err
	}
	defer f.Close()
	name, err := io.ReadAll(f)
	if err == nil && (string(name) != client || v.Session.Principal != client) {
		return run.Decision{Deny: fmt.Sprintf("client %s has the directory of %s as %s", client, name, v.Session.Principal)}, nil
	}
	return run.Decision{}, err
}
