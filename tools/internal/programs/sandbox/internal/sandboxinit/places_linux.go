package sandboxinit

import (
	"path/filepath"
	"strings"
)

// private are the places of the system that hold what belongs to users and to programs
// that run: nobody's programs have business there but by way of a root.
func private() []string {
	return []string{"/etc/gshadow", "/etc/gshadow-", "/etc/krb5.keytab", "/etc/shadow", "/etc/shadow-", "/etc/ssl/private", "/etc/sudoers", "/etc/sudoers.d", "/var/lib/containerd", "/var/lib/docker", "/var/lib/private",
		"/tmp", "/run", "/home", "/root", "/var/tmp", "/var/run", "/dev", "/sys", "/boot", "/lost+found", "/var/spool", "/var/mail", "/var/backups", "/var/log"}
}

type kind int

const (
	open   kind = iota // nothing private lies in it
	hidden             // it is private or lies in what is
	mixed              // it holds something private
)

func kindOf(dir string, private []string) kind {
	k := open
	for _, p := range private {
		switch {
		case inside(dir, p):
			return hidden
		case inside(p, dir):
			k = mixed
		}
	}
	return k
}

// inside reports whether path is dir or lies below it; both are clean.
func inside(path, dir string) bool {
	return path == dir || dir == "/" || strings.HasPrefix(path, dir+"/")
}

func join(dir, name string) string { return filepath.Join(dir, name) }

// homeAt is where programs see their HOME.
func homeAt(v View) string {
	if v.Level != Full {
		return v.Home.Path
	}
	return v.Home.At[0]
}
