// Package unitfile makes the files by which a system starts a command for a user: units of
// systemd and agents of launchd.
//
// Start at [Do]. The package imports nothing of ours.
package unitfile

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Do installs or uninstalls the unit that starts a command for the schedules of directories,
// and writes what the user has to do then.
func Do(install bool, out io.Writer, system, home string, roots, words []string) error {
	sum := sha256.Sum256([]byte(strings.Join(roots, "\x00")))
	u, ok := of(system, home, "toolcrib-schedules-"+hex.EncodeToString(sum[:4]), "Schedules of toolcrib in "+strings.Join(roots, " "), words)
	if !ok {
		return fmt.Errorf("systemd and launchd are known here, not what %s has; have it start: %s", system, strings.Join(words, " "))
	}
	said := ""
	if install {
		if err := os.MkdirAll(filepath.Dir(u.file), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(u.file, []byte(u.text), 0o600); err != nil {
			return err
		}
		said = u.file + " is written; to start it:\n" + u.start
	} else {
		err := os.Remove(u.file)
		if errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%s does not exist: nothing is installed for these directories", u.file)
		}
		if u.link != "" && err == nil {
			if err = os.Remove(u.link); errors.Is(err, fs.ErrNotExist) { // it was never enabled
				err = nil
			}
		}
		if err != nil {
			return err
		}
		said = u.file + " is removed; to end what it started:\n" + u.stop
	}
	_, err := fmt.Fprintln(out, said)
	return err
}

// unit is a file by which a system starts a command.
type unit struct {
	file, text  string
	link        string // made when the user enables it; "" = none
	start, stop string // commands for the user
}

// of returns the unit of a system, "linux" or "darwin", that starts a command, whose program
// comes first, for a user with that home directory. ok is false for other systems.
func of(system, home, name, about string, words []string) (u unit, ok bool) {
	switch system {
	case "linux":
		quoted := make([]string, len(words))
		for i, word := range words {
			quoted[i] = systemdWord(word)
		}
		dir := filepath.Join(home, ".config", "systemd", "user")
		return unit{
			file: filepath.Join(dir, name+".service"),
			link: filepath.Join(dir, "default.target.wants", name+".service"),
			text: "[Unit]\nDescription=" + strings.NewReplacer(`\`, `\\`, "%", "%%", "\n", " ").Replace(about) + "\n\n" +
				"[Service]\nExecStart=" + strings.Join(quoted, " ") + "\nRestart=on-failure\nRestartSec=10\n\n" +
				"[Install]\nWantedBy=default.target\n",
			start: "systemctl --user daemon-reload && systemctl --user enable --now " + name + "\nloginctl enable-linger    (so that it also runs while you are not logged in)",
			// "disable" knows no unit without a file.
			stop: "systemctl --user stop " + name + " && systemctl --user daemon-reload",
		}, true
	case "darwin":
		var b strings.Builder
		b.WriteString(xml.Header + `<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">` + "\n")
		b.WriteString("<plist version=\"1.0\"><dict>\n\t<key>Label</key><string>" + name + "</string>\n\t<key>ProgramArguments</key><array>\n")
		for _, word := range words {
			b.WriteString("\t\t<string>")
			_ = xml.EscapeText(&b, []byte(word)) // a Builder takes everything
			b.WriteString("</string>\n")
		}
		b.WriteString("\t</array>\n\t<key>RunAtLoad</key><true/>\n\t<key>KeepAlive</key><dict><key>SuccessfulExit</key><false/></dict>\n</dict></plist>\n")
		file := filepath.Join(home, "Library", "LaunchAgents", name+".plist")
		return unit{
			file: file, text: b.String(),
			start: "launchctl bootstrap gui/$(id -u) " + `"` + file + `"`,
			stop:  "launchctl bootout gui/$(id -u)/" + name,
		}, true
	}
	return unit{}, false
}

// systemdWord quotes a word of ExecStart.
func systemdWord(word string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, `%`, `%%`, `$`, `$$`, "\n", `\n`).Replace(word) + `"`
}
