package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"

	"toolcrib/server/config"
)

// launch is how a client starts this server.
type launch struct {
	Command string
	Args    []string
}

// launchOf returns the launch of a server with this configuration and roots.
// It works from any directory and does not depend on the environment. It has no
// secrets and no settings for HTTP: a client that launches a server speaks over stdio.
func launchOf(cfg config.Config, roots []string) launch {
	cfg.HTTP, cfg.Auth, cfg.AllowHosts, cfg.AllowOrigins = "", "", nil, nil
	args := []string{"serve"}
	for _, o := range config.Options(&cfg) {
		switch {
		case o.Field.IsZero() || o.Name == "":
		case o.Field.Kind() == reflect.Bool:
			args = append(args, "--"+o.Name)
		case o.Field.Kind() == reflect.Slice:
			args = append(args, "--"+o.Name+"="+strings.Join(o.Field.Interface().([]string), ","))
		default:
			value := o.Field.String()
			if abs, err := filepath.Abs(value); err == nil && (o.Arg == "FILE" || o.Arg == "DIR") {
				value = abs
			}
			args = append(args, "--"+o.Name+"="+value)
		}
	}
	for _, root := range roots {
		if strings.HasPrefix(root, "-") {
			args = append(args, "--")
			break
		}
	}
	return launch{Command: executable(), Args: append(args, roots...)}
}

// offPath says that the shell does not find this program by its name, and which line mends
// that; "" = it does.
func (p *Process) offPath() string {
	file := executable()
	found, err := p.LookPath(defaultName)
	if err == nil {
		one, errOne := os.Stat(found)
		other, errOther := os.Stat(file)
		if errOne != nil || errOther != nil || os.SameFile(one, other) {
			return ""
		}
		return found + " comes first on PATH, not " + file
	}
	dir := filepath.Dir(file)
	line := "export PATH=" + config.ShellWord(dir) + `:"$PATH"`
	if runtime.GOOS == "windows" {
		line = `setx PATH "%PATH%;` + dir + `"`
	}
	return "toolcrib is not on PATH, which a shell needs to find it: " + line
}

// line is the launch as a command line.
func (l launch) line() string { return commandLine(append([]string{l.Command}, l.Args...)...) }

// setUp says how to make a client start the server: the snippet that most
// clients read, and the command of each client that is there.
func (p *Process) setUp(l launch) (string, error) {
	most, err := findClient("claude-code")
	if err != nil {
		return "", err
	}
	snippet, err := most.place(defaultName).Set(nil, most.entry(reach{launch: l}))
	if err != nil {
		return "", err
	}
	var b strings.Builder
	fmt.Fprintf(&b, `Let toolcrib put itself into the configuration of a client:
  %s
where CLIENT is %s.
Without --write it shows the entry and its file.
`, l.configLine("CLIENT", "--write"), strings.Join(clientIDs(), ", "))
	fmt.Fprintf(&b, "\nOr put this there yourself, for most clients:\n\n%s\nOr let the client do it:\n", snippet)
	for _, c := range clients() {
		if _, err := p.LookPath(c.binary); err == nil || c.binary == "claude" {
			if line := c.command(defaultName, "", reach{launch: l}); line != "" {
				fmt.Fprintf(&b, "  %s\n", line)
			}
		}
	}
	return b.String(), nil
}

// configLine is the command line of config for this launch.
func (l launch) configLine(words ...string) string {
	return commandLine(slices.Concat([]string{l.Command, "config"}, words, l.Args[1:])...)
}

// commandLine quotes words for a command line to copy.
func commandLine(words ...string) string {
	quoted := make([]string, len(words))
	for i, word := range words {
		quoted[i] = config.ShellWord(word)
	}
	return strings.Join(quoted, " ")
}
