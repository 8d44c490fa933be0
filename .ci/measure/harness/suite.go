package harness

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
)

// Suite runs tests and prints the lines of their log that match.
func Suite(ctx context.Context, env []string, packages, run string, shown *regexp.Regexp) error {
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
