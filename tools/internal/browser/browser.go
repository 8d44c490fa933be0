// Package browser drives a headless Chromium in the sandbox: it loads a page with its
// scripts and returns what has become of it.
//
// The browser has no other way out than a proxy with the rules of its options, which judges
// each address. It keeps no profile: each page has a context of its own.
//
// Start at [Engine.Render]; page.go has what one page is asked, launch.go how the browser
// starts, conn.go the protocol. The package must not import a category.
package browser

import (
	"context"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"time"

	"toolcrib/tools"
	"toolcrib/tools/internal/programs/sandbox"
	"toolcrib/tools/outbound"
)

// Engine has the browsers of a process, one for each principal in a workspace, and one for
// each private host that they alone may reach. It starts one at its first use and ends it
// when it was idle for a while. The zero value cannot be used; [New] makes one.
type Engine struct {
	sandbox *sandbox.Engine

	mu      sync.Mutex
	opt     Options
	running map[string]*process
}

// Options configure an Engine. They apply to browsers that start from then on.
type Options struct {
	File           string // the program; "" = the first that is found
	outbound.Rules        // the hosts that pages reach
}

// New returns an engine. It starts nothing.
func New(s *sandbox.Engine) *Engine { return &Engine{sandbox: s, running: map[string]*process{}} }

// idleTime is how long a browser without pages lives.
const idleTime = time.Minute

// Configure sets the options.
func (e *Engine) Configure(opt Options) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.opt = opt
}

func (e *Engine) options() Options {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.opt
}

// names are the programs that are looked for on PATH, and in the usual places.
var names = []string{
	"chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "microsoft-edge", "brave-browser",
	"/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
	"/Applications/Chromium.app/Contents/MacOS/Chromium",
	"/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge",
	"/Applications/Brave Browser.app/Contents/MacOS/Brave Browser",
}

// Find returns the program. The error says how to get one.
func (e *Engine) Find() (string, error) {
	file := e.options().File
	if runtime.GOOS == "windows" {
		return "", tools.Errorf(tools.Unsupported, "pages can be rendered on Linux and macOS only")
	}
	if file != "" {
		found, err := exec.LookPath(file)
		if err != nil {
			return "", tools.Errorf(tools.Unavailable, "the browser of the configuration, %s, cannot be started", file).WithHint("let the user correct the setting browser")
		}
		return found, nil
	}
	for _, name := range names {
		if found, err := exec.LookPath(name); err == nil {
			return found, nil
		}
	}
	return "", tools.Errorf(tools.Unavailable, "no Chromium was found on this machine").
		WithHint("let the user install one (apt install chromium, brew install --cask chromium) or name it by the setting browser")
}

// Close ends all browsers.
func (e *Engine) Close() {
	e.mu.Lock()
	running := e.running
	e.running = map[string]*process{}
	e.mu.Unlock()
	for _, p := range running {
		p.end()
	}
}

// use returns the browser of the call's principal and workspace, and starts it if there is
// none. also is a private host that it may reach, "" = none. leave must be called when it is
// no longer used.
func (e *Engine) use(ctx context.Context, also string) (_ *process, leave func(), err error) {
	s := tools.Session(ctx)
	key := strings.Join(append(s.Workspace.Roots(), s.Principal, also), "\x00")
	e.mu.Lock()
	p := e.running[key] // leave holds it, whatever is returned
	if p == nil {
		p = new(process)
		e.running[key] = p
	}
	p.users++
	if p.idle != nil {
		p.idle.Stop()
	}
	e.mu.Unlock()
	leave = func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		if p.users--; p.users > 0 {
			return
		}
		p.idle = time.AfterFunc(idleTime, func() { e.drop(key, p) })
	}
	p.once.Do(func() { p.err = e.launch(ctx, p, also) })
	err = p.err // which other calls read too
	if err == nil && p.ended() {
		err = errGone
	}
	if err != nil {
		leave()
		e.drop(key, p)
		return nil, nil, err
	}
	return p, leave, nil
}

// drop ends a browser that nobody uses.
func (e *Engine) drop(key string, p *process) {
	e.mu.Lock()
	used := p.users > 0
	if !used && e.running[key] == p {
		delete(e.running, key)
	}
	e.mu.Unlock()
	if !used {
		p.end()
	}
}
