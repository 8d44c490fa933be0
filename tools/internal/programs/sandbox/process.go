package sandbox

import (
	"os"
	"runtime"
	"slices"
)

// Process is a program that was started. Its methods may be called by several
// goroutines.
type Process struct {
	report   Report
	terminal *os.File
	signal   func(os.Signal) error
	kill     func()
	touched  func() Touched // nil where nobody looks
	done     chan struct{}
	exit     Exit
}

// Report says what contains the process.
func (p *Process) Report() Report { return p.report }

// Terminal is the other end of its terminal, nil without one. It is the caller's to
// close.
func (p *Process) Terminal() *os.File { return p.terminal }

// Signal sends a signal to the program and what it has in its process group.
func (p *Process) Signal(s os.Signal) error { return p.signal(s) }

// Kill ends the program and all that it has started. It does not wait.
func (p *Process) Kill() { p.kill() }

// Touched says what has become of protected places since the start, or since it was last
// asked.
func (p *Process) Touched() Touched {
	if p.touched == nil {
		return Touched{}
	}
	return p.touched()
}

// Done is closed when the program has ended, and with it all that it had started.
func (p *Process) Done() <-chan struct{} { return p.done }

// Exit returns how it ended. It is valid once Done is closed.
func (p *Process) Exit() Exit { return p.exit }

// Variables are the names of the variables of the environment that programs get of the
// server's; all = every one but its own settings.
func (o Options) Variables() (names []string, all bool) {
	contained := o.Level != None && (o.Level != 0 || runtime.GOOS == "linux" || runtime.GOOS == "darwin")
	return slices.Concat([]string{"PATH", "HOME"}, passed(), o.Env), !contained
}

// passed are the variables of the server that programs get: the language and the
// terminal, where toolchains are, and which certificates and mirrors they go by. Those
// that load code, and all that may be a secret, are not among them.
func passed() []string {
	return []string{
		"LANG", "LANGUAGE", "LC_ALL", "LC_COLLATE", "LC_CTYPE", "LC_MESSAGES", "LC_MONETARY", "LC_NUMERIC", "LC_TIME", "TZ",
		"TERM", "COLORTERM", "NO_COLOR", "USER", "LOGNAME", "SHELL", "CI",
		"ANDROID_HOME", "CARGO_HOME", "CONDA_PREFIX", "DOTNET_ROOT", "GOPATH", "GOROOT", "GOTOOLCHAIN", "JAVA_HOME", "NVM_BIN", "NVM_DIR", "PNPM_HOME", "PYENV_ROOT", "RUSTUP_HOME", "RUSTUP_TOOLCHAIN", "VIRTUAL_ENV",
		"SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "GIT_SSL_CAINFO", "PIP_CERT", "CARGO_HTTP_CAINFO",
		"GOPROXY", "GOSUMDB", "GONOSUMDB", "GOFLAGS", "PIP_INDEX_URL", "UV_INDEX_URL", "NPM_CONFIG_REGISTRY", "npm_config_registry",
	}
}
