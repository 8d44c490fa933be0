package sandbox

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// environ is the environment of a program, with variables of the server beside the usual
// ones. Its own come last and win.
func (h *holder) environ(names, own []string) []string {
	if h.opt.Level == None {
		return merged(withoutOurs(os.Environ()), own)
	}
	env := []string{"PATH=" + absolute(os.Getenv("PATH")), "HOME=" + h.home}
	if h.opt.Level == Landlock {
		env = append(env, "TMPDIR="+filepath.Join(h.view.Temp.Path, "tmp"))
	}
	for _, name := range append(passed(), names...) {
		value, ok := os.LookupEnv(name)
		if !ok || strings.Contains(value, "@") && !slices.Contains(names, name) { // the user of a mirror, with a password
			continue
		}
		env = append(env, name+"="+value)
	}
	return merged(env, own)
}

// withoutOurs leaves out the settings of the server, which hold its secrets.
func withoutOurs(env []string) []string {
	return slices.DeleteFunc(env, func(v string) bool { return strings.HasPrefix(v, "TOOLCRIB_") })
}

// merged is one list without a name twice.
func merged(env, own []string) []string {
	at := map[string]int{}
	var list []string
	for _, v := range slices.Concat(env, own) {
		name, _, _ := strings.Cut(v, "=")
		if i, ok := at[name]; ok {
			list[i] = v
			continue
		}
		at[name] = len(list)
		list = append(list, v)
	}
	return list
}

// absolute leaves of a PATH the directories that mean the same everywhere.
func absolute(path string) string {
	dirs := slices.DeleteFunc(filepath.SplitList(path), func(dir string) bool { return !filepath.IsAbs(dir) })
	if len(dirs) == 0 {
		return "/usr/local/bin:/usr/bin:/bin"
	}
	return strings.Join(dirs, string(filepath.ListSeparator))
}
