package command

import (
	"path"
	"slices"
	"strings"

	"toolcrib/tools"
)

// maxGuessed is the most guessed commands of a line.
const maxGuessed = 1000

// guess notes the commands that an unknown program may run: the words after any of its words,
// and each word as a line of its own.
func (w *walker) guess(args []tools.Word, hides func(string)) {
	for i, a := range args {
		if len(w.guessed) > maxGuessed {
			hides("it has too many words to be looked through")
			return
		}
		text := a.Text
		if strings.HasPrefix(text, "-") || isAssignment(a) {
			_, text, _ = strings.Cut(text, "=")
		}
		switch {
		case a.Kind != tools.Known:
		case strings.ContainsAny(text, " \t\n;|&<>()`"):
			sub := w.aside()
			sub.text(text)
			w.perhaps(sub, hides)
		case programLike(text):
			sub := w.aside()
			sub.known = true
			words := append([]tools.Word{{Text: text}}, args[i+1:]...)
			if name := base(text); isShell(name) || interpreter(name) {
				sub.run(words)
			} else {
				sub.add(tools.Command{Words: words})
			}
			w.perhaps(sub, hides)
		}
	}
}

// aside returns a walker for text that may or may not run.
func (w *walker) aside() *walker {
	return &walker{dirs: w.dirs, values: map[string][]tools.Word{}, functions: map[string]function{}, stdin: w.stdin, until: w.until, nested: w.nested, depth: w.depth, parsed: w.parsed, known: w.known}
}

// perhaps adds the findings of aside as commands that may run.
func (w *walker) perhaps(sub *walker, hides func(string)) {
	w.parsed = sub.parsed
	for _, c := range append(sub.line.Commands, sub.guessed...) {
		if c.Words[0].Kind != tools.Known {
			continue
		}
		name := base(c.Words[0].Text)
		given := len(c.Words) > 1 || w.stdin.given
		if c.Hides != "" && given && (isShell(name) || interpreter(name)) || isScript(name) {
			hides("it may run what its words name")
		}
		w.guessed = append(w.guessed, tools.Command{Words: c.Words, Light: true, Perhaps: true})
	}
}

// programLike reports whether a word can be the name of a program.
func programLike(text string) bool {
	letters := strings.Trim(text, "0123456789.,:+-_/=%@")
	return letters != "" && !strings.HasPrefix(text, "-")
}

// isScript reports whether a file is a script of a shell by its name.
func isScript(name string) bool {
	return slices.Contains([]string{".sh", ".bash", ".zsh", ".ksh", ".command"}, path.Ext(name))
}

// isShell reports whether a program is a shell.
func isShell(name string) bool {
	return slices.Contains([]string{
		"sh", "bash", "dash", "zsh", "ksh", "mksh", "ash", "rbash", "lksh", "posh", "yash", "oksh", "osh", "bash-static", "fish", "csh", "tcsh", "pwsh",
	}, name)
}

// plain reports whether the words of a program are known not to be commands, apart from those
// that other functions check.
func plain(name string) bool {
	if _, ok := filedOf(name); ok || isLight(name) {
		return true
	}
	return slices.Contains(strings.Fields(plainPrograms), name)
}

// plainPrograms are programs whose words are data, names of packages or their own verbs.
const plainPrograms = `
let declare typeset local readonly export complete compgen bind fc history enable help logname
man which whereis whatis apropos info tldr command-not-found type file stat readlink realpath basename dirname
date cal wc nl tac rev od xxd hexdump strings cmp diff diff3 comm join tr seq shuf yes factor expr numfmt base32 base64 basenc
md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum cksum sum df mktemp mkfifo mknod link sync tty stty tput clear reset
id whoami who w users groups hostname uname arch nproc uptime free vmstat lscpu lsblk lsof fuser pgrep pkill kill killall pidof ps top pstree
zcat zgrep zless gzip gunzip bzip2 bunzip2 xz unxz zstd unzstd lz4 zip unzip tar 7z ar cpio
jq yq xmllint csvcut column iconv dos2unix unix2dos patch pr fmt tsort look bc dc dd awk gawk sed
apt apt-get apt-cache apt-mark dpkg dpkg-query dnf yum rpm apk brew pacman zypper snap flatpak port gem pip pip3 conda mamba composer cargo rustup
npm pnpm yarn bun bundle poetry pipenv uv rye pdm hatch pipx
make gmake ninja cmake-gui go gofmt goimports rustc rustfmt
gh glab hub hg svn jj darcs bzr fossil
curl wget http ping dig host nslookup getent scp sftp rsync
shellcheck shfmt codespell aspell spell vim vi nvim emacs nano less more most bat code open xdg-open
logger wall write mail notify-send say cowsay figlet banner dialog zenity printenv locale getconf`
