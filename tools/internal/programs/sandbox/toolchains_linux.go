package sandbox

import (
	"os"
	"regexp"
)

// Places below the home directory, which is private as a whole. A new toolchain is a
// line here.

// readable are where toolchains and programs are installed.
func readable() []string {
	return []string{
		".asdf", ".bun/bin", ".cargo/bin", ".conda", ".deno/bin", ".dotnet", ".ghcup", ".goenv", ".jabba", ".jenv", ".juliaup",
		".local/bin", ".local/lib", ".local/opt", ".local/pipx", ".local/share/fnm", ".local/share/mise", ".local/share/pipx", ".local/share/pnpm", ".local/share/uv", ".local/share/virtualenvs",
		".nodenv", ".nvm", ".opam", ".phpenv", ".pyenv", ".rbenv", ".rustup", ".rvm", ".sdkman", ".swiftly", ".volta",
		".cache/ms-playwright", ".cache/puppeteer",
		"anaconda3", "bin", "go/bin", "mambaforge", "miniconda3", "miniforge3", "sdk",
	}
}

// caches hold what toolchains have downloaded and add to.
func caches() []string {
	return []string{".cache/pip", ".cargo/git", ".cargo/registry", ".gradle/caches", ".gradle/wrapper", ".ivy2/cache", ".m2/repository", ".nuget/packages", "go/pkg/mod"}
}

// plainFiles are settings that programs need to work as they do outside, unless they
// hold a secret.
func plainFiles() []string {
	return []string{".cargo/config", ".cargo/config.toml", ".condarc", ".config/git/config", ".config/git/ignore", ".config/go/env", ".config/pip/pip.conf", ".config/uv/uv.toml", ".gitconfig", ".gitignore", ".npmrc", ".pip/pip.conf", ".yarnrc", ".yarnrc.yml"}
}

// secrets are what is hidden where a root holds the home directory.
func secrets() []string {
	return []string{
		".aws", ".azure", ".bash_history", ".cargo/credentials", ".cargo/credentials.toml", ".config/gcloud", ".config/gh", ".config/op", ".config/toolcrib", ".docker", ".git-credentials", ".gnupg", ".kube", ".local/share/keyrings",
		".mozilla", ".config/google-chrome", ".config/chromium", ".netrc", ".npmrc", ".password-store", ".pgpass", ".pypirc", ".python_history", ".ssh", ".terraform.d", ".vault-token", ".zsh_history",
	}
}

// secretText finds what may be one in a file of settings.
var secretText = regexp.MustCompile(`(?i)token|passw|secret|_auth\b|credential|extraheader|api_?key|://[^/\s"']*:[^/\s"']*@`)

// holdsSecret tells whether a file seems to hold one. The error says that it is none
// that can be read.
func holdsSecret(path string) (bool, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return false, err
	}
	const most = 64 << 10
	if !info.Mode().IsRegular() || info.Size() > most {
		return true, nil
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return false, err
	}
	return secretText.Match(data), nil
}
