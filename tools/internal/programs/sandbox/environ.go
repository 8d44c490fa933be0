package sandbox

import (
	"runtime"
	"slices"
)

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
