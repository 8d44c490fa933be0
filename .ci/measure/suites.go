package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
)

// The figures of this file are taken by tests of the packages themselves, at
// the size that an environment variable sets.

// escapes races opens against an attacker who swaps directories, files and
// links, on both ways of opening and on a prefix check as control.
func escapes(ctx context.Context, env environment) error {
	return suite(ctx, []string{"TOOLCRIB_RACE_OPENS=" + strconv.Itoa(env.of(1_000_000, 10_000))},
		"./workspace", "^TestRacingSwap", regexp.MustCompile(`opens`))
}

// vectors tries every path that leads out of the roots in every path argument
// of every tool, and on both ways of opening.
func vectors(ctx context.Context, _ environment) error {
	return suite(ctx, nil, "./workspace ./tools/catalog", "^TestVectors$|^TestTools$", regexp.MustCompile(`vectors?:`))
}

// confirmations plays what can happen to a question, in each revision under each
// --confirm, and compares the rules of the policy with a slow judge.
func confirmations(ctx context.Context, _ environment) error {
	return suite(ctx, nil, "./server ./server/run", "^TestConfirmations$|^TestRulesAgainstTheSlowJudge$", regexp.MustCompile(`confirmations:|differences`))
}

// searchTools has tools found for requests in the words of users, half of which are
// held out from tuning, in the catalog beside tools of toolsets to come.
func searchTools(ctx context.Context, _ environment) error {
	return suite(ctx, nil, "./tools/bridge", "^TestRequests$", regexp.MustCompile(`requests: `))
}

// suite runs tests and prints the lines of their log that match.
func suite(ctx context.Context, env []string, packages, run string, shown *regexp.Regexp) error {
	args := append([]string{"test", "-count=1", "-timeout=60m", "-json", "-run", run}, strings.Fields(packages)...)
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Env = append(os.Environ(), env...)
	out, err := cmd.Output()
	passed, failed := 0, 0
	for line := range strings.Lines(string(out)) {
		var event struct{ Action, Test, Output string }
		if json.Unmarshal([]byte(line), &event) != nil || event.Test == "" {
			continue
		}
		switch event.Action {
		case "pass":
			passed++
		case "fail":
			failed++
			fmt.Println("FAILED", event.Test)
		case "output":
			if shown.MatchString(event.Output) && !strings.HasPrefix(strings.TrimSpace(event.Output), "---") && !strings.HasPrefix(event.Output, "===") {
				fmt.Print(event.Output)
			}
		}
	}
	fmt.Printf("%d passed, %d failed\n", passed, failed)
	if err == nil && passed == 0 {
		return fmt.Errorf("no test matches %s in %s", run, packages)
	}
	return err
}

// list counts what the default preset costs a model.
func list(ctx context.Context, env environment) error {
	out, err := exec.CommandContext(ctx, env.Binary, "list", "--format", "mcp").Output()
	if err != nil {
		return err
	}
	var doc struct{ Tools []json.RawMessage }
	if err := json.Unmarshal(out, &doc); err != nil {
		return err
	}
	bytes := 0
	for _, tool := range doc.Tools {
		compact, err := json.Marshal(tool)
		if err != nil {
			return err
		}
		bytes += len(compact)
	}
	fmt.Printf("| tools/list of the default preset | %d tools | %d tokens |\n|---|---|---|\n", len(doc.Tools), bytes/4)
	if len(doc.Tools) > 20 || bytes/4 > 8000 {
		return fmt.Errorf("want at most 20 tools, 8,000 tokens")
	}
	return nil
}
