package command

import (
	"slices"
	"strings"

	"toolcrib/tools"
)

// wantsNetwork guesses whether a command needs the network.
func wantsNetwork(words []tools.Word) bool {
	if words[0].Kind != tools.Known {
		return false
	}
	var verbs []string
	for _, word := range words[1:min(len(words), 16)] {
		if word.Kind == tools.Known && !strings.HasPrefix(word.Text, "-") {
			verbs = append(verbs, word.Text)
		}
	}
	does := func(list ...string) bool {
		return slices.ContainsFunc(verbs[:min(3, len(verbs))], func(v string) bool { return slices.Contains(list, v) })
	}
	switch base(words[0].Text) {
	case "curl", "wget", "ssh", "scp", "sftp", "nc", "ncat", "netcat", "telnet", "ftp", "ping", "dig", "nslookup", "host", "gh", "aws", "gcloud", "npx", "uvx", "bunx":
		return true
	case "rsync":
		return slices.ContainsFunc(verbs, func(v string) bool { return strings.Contains(v, ":") })
	case "git":
		return does("push", "pull", "fetch", "clone", "ls-remote") || does("submodule", "remote") && does("update", "add")
	case "npm", "pnpm", "yarn", "bun":
		return does("install", "ci", "i", "add", "update", "upgrade", "publish", "audit", "dlx") || base(words[0].Text) == "yarn" && len(verbs) == 0
	case "pip", "pip3", "uv", "poetry", "pipx", "conda", "mamba":
		return does("install", "download", "add", "sync", "update", "lock")
	case "python", "python3":
		return does("pip") && does("install", "download")
	case "cargo":
		return does("install", "fetch", "update", "publish", "add", "search")
	case "go":
		return does("get", "install") || does("mod") && does("download", "tidy")
	case "apt", "apt-get", "dnf", "yum", "apk", "brew", "pacman", "zypper", "gem", "bundle", "composer":
		return does("install", "update", "upgrade", "add", "require", "fetch")
	case "docker", "podman":
		return does("pull", "push", "login")
	}
	return false
}
