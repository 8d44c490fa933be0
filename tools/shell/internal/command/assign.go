package command

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"toolcrib/tools"
)

// assigns walks assignments. Some variables decide which programs run.
func (w *walker) assigns(list []*syntax.Assign) {
	for _, a := range list {
		w.arithm(a.Index)
		w.word(a.Value)
		if a.Array != nil {
			for _, elem := range a.Array.Elems {
				w.arithm(elem.Index)
				w.word(elem.Value)
			}
		}
		switch {
		case a.Name == nil: // export "$x", declare -n x
			w.evaluates = true
			if a.Value != nil {
				w.variable(w.value(a.Value))
			}
		case a.Value != nil:
			v := w.value(a.Value)
			w.sets(a.Name.Value, v, w.source(a.Value))
			if a.Append || a.Index != nil {
				w.holds(a.Name.Value)
			} else if v.Kind == tools.Many && pattern(v.Text) {
				w.holds(a.Name.Value, tools.Word{Text: v.Text}) // which no file names replace here
			} else if m := w.meant(v); len(m) == 1 && v.Kind != tools.Known && !strings.Contains(strings.ToUpper(v.Text), "PWD") {
				w.holds(a.Name.Value, m[0])
			}
			w.holds(a.Name.Value + all)
		case a.Array != nil:
			w.sets(a.Name.Value, tools.Word{Kind: tools.Many}, "")
			w.holdsArray(a)
		}
	}
}

// all follows the name of an array for all its elements.
const all = "[@]"

// holdsArray notes the elements of an array, none if it has too many or their places are not known.
func (w *walker) holdsArray(a *syntax.Assign) {
	name := a.Name.Value + all
	var values []tools.Word
	if a.Append {
		values = slices.Clone(w.values[name])
	}
	for _, elem := range a.Array.Elems {
		if elem.Index != nil || elem.Value == nil || len(values) >= maxLosses {
			values = nil
			break
		}
		values = append(values, w.meant(w.value(elem.Value))...)
	}
	w.holds(name, values...)
}

// variable reads NAME=VALUE from a word.
func (w *walker) variable(word tools.Word) {
	name, value, ok := strings.Cut(word.Text, "=")
	switch {
	case word.Kind == tools.Known && ok:
		w.sets(name, tools.Word{Text: value}, value)
	case word.Kind != tools.Known && ok && isName(name):
		w.sets(name, tools.Word{Kind: tools.Many}, value)
	case word.Kind != tools.Known:
		w.unknown("it sets a variable whose name nobody can tell")
	}
}

// sets checks a variable that is set. written is its value as written.
func (w *walker) sets(name string, v tools.Word, written string) {
	w.holds(name, v)
	switch name {
	case "PATH":
		for _, before := range []string{"$PATH:", "${PATH}:"} {
			if strings.HasPrefix(strings.TrimPrefix(written, `"`), before) {
				return // the commands found so far are enough
			}
		}
		w.unknown("it sets PATH, by which programs are found")
	case "PAGER", "GIT_PAGER", "MANPAGER", "EDITOR", "VISUAL", "GIT_EDITOR", "GIT_SEQUENCE_EDITOR", "GIT_SSH_COMMAND", "GIT_SSH", "GIT_ASKPASS", "SSH_ASKPASS",
		"GIT_EXTERNAL_DIFF", "GIT_PROXY_COMMAND", "LESSOPEN", "LESSCLOSE", "BROWSER", "RUSTC_WRAPPER", "CC", "CXX", "CPP", "LD", "AR", "AS", "FC", "SHELL", "CONFIG_SHELL",
		"SUDO_EDITOR", "FCEDIT", "HGEDITOR", "SVN_EDITOR", "SUDO_ASKPASS", "CMAKE_C_COMPILER_LAUNCHER", "CMAKE_CXX_COMPILER_LAUNCHER", "CCACHE_PREFIX":
		if v.Kind != tools.Known {
			w.unknown("it sets %s to a command that nobody can tell", name)
			return
		}
		w.text(v.Text)
	}
	if decides(name) {
		w.unknown("it sets %s, by which programs run others", name)
	}
}

// decides reports whether a variable names a program to run, or a file from which programs
// read settings.
func decides(name string) bool {
	switch {
	case strings.HasPrefix(name, "BASH_"), strings.HasPrefix(name, "LD_"), strings.HasPrefix(name, "DYLD_"), strings.HasPrefix(name, "GIT_CONFIG"):
		return name != "BASH_SILENCE_DEPRECATION_WARNING"
	case strings.HasPrefix(strings.ToLower(name), "npm_config_"):
		switch strings.ToLower(strings.TrimPrefix(strings.ToLower(name), "npm_config_")) {
		case "script_shell", "shell", "git", "node_options", "userconfig", "globalconfig", "editor", "viewer", "prefix", "init_module", "node_gyp", "python":
			return true
		}
	case strings.HasPrefix(name, "CARGO_TARGET_"):
		return strings.HasSuffix(name, "_RUNNER") || strings.HasSuffix(name, "_LINKER")
	}
	return slices.Contains(strings.Fields(deciding), name)
}

// deciding lists the variables by which programs find, load or run others.
const deciding = `
ENV PS4 PROMPT_COMMAND SHELLOPTS BASHOPTS ZDOTDIR GLIBC_TUNABLES GCONV_PATH TERMINFO
PYTHONSTARTUP PYTHONPATH PYTHONHOME PYTHONUSERBASE PYTHONBREAKPOINT PYTHONWARNINGS PYTHONINSPECT
PERL5OPT PERL5LIB PERLLIB PERL5DB RUBYOPT RUBYLIB NODE_OPTIONS NODE_PATH PHPRC PHP_INI_SCAN_DIR LUA_PATH LUA_CPATH LUA_INIT
JAVA_TOOL_OPTIONS JDK_JAVA_OPTIONS _JAVA_OPTIONS CLASSPATH MAVEN_OPTS GRADLE_OPTS
GIT_EXEC_PATH GIT_TEMPLATE_DIR GIT_DIR GIT_COMMON_DIR
MAKEFLAGS GNUMAKEFLAGS MFLAGS MAKEFILES GOFLAGS GOROOT GOENV GOTOOLDIR GOCACHEPROG GOAUTH
CARGO_HOME RUSTUP_HOME RUSTC RUSTDOC RUSTFLAGS RUSTC_WORKSPACE_WRAPPER CARGO_BUILD_RUSTC CARGO_BUILD_RUSTC_WRAPPER
TAR_OPTIONS RSYNC_RSH CVS_RSH SVN_SSH HGRCPATH LESS LESSKEY VIMINIT EXINIT MYVIMRC EMACSLOADPATH
COMPILER_PATH GCC_EXEC_PREFIX CC_WRAPPER RIPGREP_CONFIG_PATH FZF_DEFAULT_COMMAND FZF_DEFAULT_OPTS
WGETRC CURL_HOME PAGER_COMMAND BAT_PAGER BAT_CONFIG_PATH ANSIBLE_CONFIG AWKPATH AWKLIBPATH GUILE_LOAD_PATH TCLLIBPATH DOTNET_STARTUP_HOOKS`

func isName(text string) bool {
	return text != "" && strings.Trim(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_") == "" && (text[0] < '0' || text[0] > '9')
}
