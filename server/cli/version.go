package cli

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"toolcrib/server/config"
)

type version struct{}

func versionCommand() command {
	return command{
		name:  "version",
		short: "print the version, the Go release and the platform",
		new:   func() runner { return new(version) },
	}
}

func (*version) run(_ context.Context, p *Process, args []string) error {
	if err := atMost(args, 0, "toolcrib version"); err != nil {
		return err
	}
	_, err := fmt.Fprintln(p.Stdout, versionLine())
	return err
}

// atMost refuses arguments that a command does not take.
func atMost(args []string, n int, usage string) error {
	if len(args) <= n {
		return nil
	}
	return config.Usagef(usage, "one argument too many: %q", args[n])
}

// versionLine is "toolcrib v1.2.3 (4f5d9a81c2e0, modified) go1.26.5 linux/amd64".
func versionLine() string {
	words := []string{"toolcrib", moduleVersion()}
	if info, ok := debug.ReadBuildInfo(); ok {
		if rev := revision(info.Settings); rev != "" {
			words = append(words, "("+rev+")")
		}
	}
	return strings.Join(append(words, runtime.Version(), runtime.GOOS+"/"+runtime.GOARCH), " ")
}

// moduleVersion is the version that the binary was built as, "(devel)" where
// the build has none.
func moduleVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "(devel)"
	}
	return info.Main.Version
}

func revision(settings []debug.BuildSetting) string {
	rev := ""
	for _, s := range settings {
		switch {
		case s.Key == "vcs.revision":
			rev = s.Value[:min(12, len(s.Value))] + rev
		case s.Key == "vcs.modified" && s.Value == "true":
			rev += ", modified"
		}
	}
	return rev
}
