package web

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"time"

	"toolcrib/.ci/measure/harness"
)

// inside is set in the process that runs in the network of the figure.
const inside = "MEASURE_WEB_INSIDE"

// peers are what is compared with at full size.
var peers = []struct{ name, version string }{
	{"@tokenizin/mcp-npx-fetch", "1.0.0"},
	{"@kazuph/mcp-fetch", "1.6.3"},
}

// Web reads a web of its own with the binary: in a network namespace where each address leads to
// one server, which notes who was connected to.
func Web(ctx context.Context, env harness.Environment) error {
	if os.Getenv(inside) != "" {
		return readAll(ctx, env)
	}
	if env.Full() {
		for _, p := range peers {
			if _, err := os.Stat(filepath.Join(env.Cache, "webpeers", "node_modules", p.name)); err == nil {
				continue
			}
			c := exec.CommandContext(ctx, "npm", "install", "--prefix", filepath.Join(env.Cache, "webpeers"), "--no-audit", "--no-fund", p.name+"@"+p.version)
			if out, err := c.CombinedOutput(); err != nil {
				return fmt.Errorf("npm: %w: %s", err, out)
			}
		}
	}
	if err := harness.Suite(ctx, nil, "./tools/web/internal/lookup", "^(TestBadDays|TestOwnWays|TestSlow)$", regexp.MustCompile("bad day")); err != nil {
		return err
	}
	c := exec.CommandContext(ctx, os.Args[0], os.Args[1:]...)
	c.Env = append(os.Environ(), inside+"=1", "http_proxy=", "https_proxy=", "HTTP_PROXY=", "HTTPS_PROXY=")
	c.Stdout, c.Stderr = os.Stdout, os.Stderr
	c.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNET,
		UidMappings: []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}},
	}
	return c.Run()
}

// readAll takes the figure in its network.
func readAll(ctx context.Context, env harness.Environment) error {
	for _, args := range []string{"link set lo up", "route add local 0.0.0.0/0 dev lo", "-6 route add local ::/0 dev lo"} {
		if out, err := exec.CommandContext(ctx, "ip", strings.Fields(args)...).CombinedOutput(); err != nil {
			return fmt.Errorf("ip %s: %w: %s", args, err, out)
		}
	}
	s, err := openSite(ctx, env.Of(1<<10, 64))
	if err != nil {
		return err
	}
	dir, remove, err := harness.Temporary("web")
	if err != nil {
		return err
	}
	defer remove()
	config := filepath.Join(dir, "config.yaml")
	if err := os.WriteFile(config, []byte(configuration), 0o600); err != nil {
		return err
	}
	root := filepath.Join(dir, "root")
	if err := os.Mkdir(root, 0o700); err != nil {
		return err
	}
	begin := time.Now()
	u, err := harness.UseTools(ctx, env.Writer(root, "--config", config, "--toolsets", "web"))
	if err != nil {
		return err
	}
	defer u.Close()
	t := taking{env: env, site: s, u: u, ready: time.Since(begin)}
	return errors.Join(t.paging(), t.vectors(), t.hostile(), t.services(), t.table(ctx))
}

// configuration has services at the figure's own server.
const configuration = `brave_api_key: k
tavily_api_key: k
exa_api_key: k
serper_api_key: k
web:
  addresses:
    brave: http://127.0.0.1:8081/brave
    tavily: http://127.0.0.1:8081/tavily
    exa: http://127.0.0.1:8081/exa
    serper: http://127.0.0.1:8081/serper
    duckduckgo: http://127.0.0.1:8081/duckduckgo
`

// taking is one taking of the figure.
type taking struct {
	env  harness.Environment
	site *site
	u    *harness.ToolUser

	ready time.Duration
}
