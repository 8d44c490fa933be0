package clients

import (
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"toolcrib/.ci/measure/harness"
)

//go:embed js/*.mjs
var scripts embed.FS

// sdkClients are the ways in which a program built on the TypeScript SDK speaks.
var sdkClients = []struct{ generation, mode string }{
	{"v1", "legacy"}, {"v2", "legacy"}, {"v2", "auto"}, {"v2", "pin"},
}

// SDK has both generations of the TypeScript SDK do all that they can do with a
// server, over both transports.
func SDK(ctx context.Context, env harness.Environment) error {
	dir, err := os.MkdirTemp(filepath.Join(env.Cache, "npm"), "scripts") // where node finds the packages
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := os.CopyFS(dir, scripts); err != nil {
		return err
	}
	var columns []string
	var checks []string // in the order of the first client that made them
	results := map[string]map[string]string{}
	var errs []error
	for _, transport := range transports {
		for _, c := range sdkClients {
			column := c.generation + " " + c.mode + ", " + transport
			columns = append(columns, column)
			made, err := sdkRun(ctx, env, dir, transport, c.generation, c.mode)
			if err != nil {
				errs = append(errs, fmt.Errorf("%s: %w", column, err))
			}
			for _, r := range made {
				if results[r.Check] == nil {
					results[r.Check] = map[string]string{}
					checks = append(checks, r.Check)
				}
				switch r.Error {
				case "":
					results[r.Check][column] = "ok"
				case "-":
					results[r.Check][column] = "-"
				default:
					results[r.Check][column] = "**no**"
					errs = append(errs, fmt.Errorf("%s: %s: %s", column, r.Check, r.Error))
				}
			}
		}
	}
	fmt.Printf("| TypeScript SDK | %s |\n|%s\n", strings.Join(columns, " | "), strings.Repeat("---|", len(columns)+1))
	for _, check := range checks {
		row := slices.Clone(columns)
		for i, column := range columns {
			row[i] = results[check][column]
			if row[i] == "" {
				row[i] = "-"
			}
		}
		fmt.Printf("| %s | %s |\n", check, strings.Join(row, " | "))
	}
	return errors.Join(errs...)
}

// sdkCheck is one thing that a client tried; Error is "" where it held and "-"
// where the revision has no such thing.
type sdkCheck struct{ Check, Error string }

func sdkRun(ctx context.Context, env harness.Environment, scripts, transport, generation, mode string) ([]sdkCheck, error) {
	b, err := newBench(ctx, env, transport, "progress", "asking", "changing")
	if err != nil {
		return nil, err
	}
	plan, err := json.Marshal(map[string]any{"generation": generation, "mode": mode, "dir": b.dir, "servers": b.servers})
	if err != nil {
		return nil, errors.Join(err, b.close())
	}
	out, err := env.Node(ctx, b.dir, nil, filepath.Join(scripts, "js", "sdk.mjs"), string(plan))
	if err := errors.Join(err, b.close()); err != nil {
		return nil, err
	}
	var made []sdkCheck
	if err := json.Unmarshal([]byte(out), &made); err != nil {
		return nil, fmt.Errorf("%w: %s", err, out)
	}
	return made, nil
}
