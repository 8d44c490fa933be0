// Package data has the figure of the tools that work on numbers and JSON.
//
// Start at [Data]. It imports the harness and nothing else of toolcrib.
package data

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"

	"toolcrib/.ci/measure/harness"
)

// Data holds calculator to the tests of the General Decimal Arithmetic and to Python, and
// json_process to JSONTestSuite and to the suite of JSON Schema.
func Data(ctx context.Context, env harness.Environment) error {
	base, dir, err := env.Scratch("data")
	if err != nil {
		return err
	}
	defer os.RemoveAll(base)
	server, err := harness.UseTools(ctx, env.Toolcrib(dir))
	if err != nil {
		return err
	}
	decimals, err := decTests(ctx, env, server)
	if err != nil {
		return err
	}
	random, err := python(ctx, env, server, base)
	if err != nil {
		return err
	}
	fmt.Println("| calculator against | expressions | not comparable | wrong |\n|---|---|---|---|")
	var errs []error
	for _, c := range []*comparison{decimals, random} {
		fmt.Printf("| %s | %d | %d | %d |\n", c.against, c.compared, c.skipped, len(c.wrong))
		for _, w := range c.wrong[:min(len(c.wrong), 20)] {
			fmt.Println(w)
		}
		if len(c.wrong) > 0 || c.compared == 0 {
			errs = append(errs, fmt.Errorf("%s: %d of %d wrong", c.against, len(c.wrong), c.compared))
		}
	}
	return errors.Join(append(errs, server.Close(), suites(ctx, env))...)
}

// comparison counts what was compared.
type comparison struct {
	against           string
	compared, skipped int
	wrong             []string
}

// suites runs those of JSON. They are not in the repository: at full size there must be a
// checkout of each in the cache; a smaller run leaves out a set that is missing.
func suites(ctx context.Context, env harness.Environment) error {
	var errs []error
	for _, set := range []struct{ name, variable, pkg, test string }{
		{"JSONTestSuite", "JSON_TEST_SUITE", "./tools/internal/jsondoc", "^TestJSONTestSuite$"},
		{"JSON-Schema-Test-Suite", "JSON_SCHEMA_SUITE", "./tools/internal/conform", "^TestSuite$"},
	} {
		dir := filepath.Join(env.Cache, "sets", set.name)
		_, err := os.Stat(dir)
		switch {
		case err == nil:
			shown := regexp.MustCompile(`JSONTestSuite: |draft 2020-12: |wrong: `)
			errs = append(errs, harness.Suite(ctx, []string{set.variable + "=" + dir}, set.pkg, set.test, shown))
		case env.Full():
			errs = append(errs, fmt.Errorf("needs a checkout of the set: %w", err))
		default:
			fmt.Printf("left out, since there is no checkout of it: %s\n", set.name)
		}
	}
	return errors.Join(errs...)
}
