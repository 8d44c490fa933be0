package shell_test

import (
	"cmp"
	"os/exec"
	"strings"
	"testing"

	"toolcrib/tools/internal/programs/sandbox"
)

// The result of what meets a limit names it, and the setting; what only says so does not.
func TestLimits(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.engine.Configure(sandbox.Options{Limits: sandbox.Limits{Memory: 256 << 20, FileSize: 1 << 20, Files: 64, Processes: 40}})
	s.want(s.call(t.Context(), "bash", map[string]any{"command": "true"}), `^exit 0`) // the sandbox stands
	for _, tc := range []struct{ name, needs, command, want, timeout string }{
		{"memory that is reserved", "python3", `exec python3 -c 'bytearray(1 << 30)'`, "programs.memory", ""},
		{"memory of a child", "python3", `python3 -c 'bytearray(1 << 30)' || exit 4`, "programs.memory", ""},
		{"memory in one piece", "dd", `dd if=/dev/zero of=/dev/null bs=1G count=1; exit 1`, "programs.memory", ""},
		{"a file", "head", `head -c 2000000 /dev/zero > big`, "programs.file_size", ""},
		{"a file of a child", "head", `(head -c 2000000 /dev/zero > big; exit $?); exit $?`, "programs.file_size", ""},
		{"a file, the signal ignored", "python3", `python3 -c 'open("big", "wb").write(b"x" * 2000000)'`, "programs.file_size", ""},
		{"processes", "python3", `exec python3 -c 'import os, time
for i in range(400):
  if os.fork() == 0: time.sleep(30); os._exit(0)'`, "programs.processes", ""},
		{"threads", "python3", `exec python3 -c 'import threading, time; threading.stack_size(65536)
for i in range(400): threading.Thread(target=time.sleep, args=(30,), daemon=True).start()'`, "programs.processes or programs.memory", ""},
		{"processes until a timeout", "bash", `sleep 0.1; echo "bash: fork: retry: Resource temporarily unavailable"; sleep 60`, "programs.processes", "2s"},
		{"files", "python3", `exec python3 -c 'a = [open("/dev/null") for i in range(90)]'`, "programs.files", ""},
		{"text of success", "bash", `echo Cannot allocate memory`, "", ""},
		{"the limit of another", "bash", `echo 'this exceeds the file size limit of 100 MB'; exit 1`, "", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if _, err := exec.LookPath(tc.needs); err != nil {
				t.Skip("needs: " + tc.needs)
			}
			s := s
			s.t = t
			text := s.call(t.Context(), "bash", map[string]any{"command": tc.command, "timeout": cmp.Or(tc.timeout, "60s")})
			switch {
			case tc.want == "" && strings.Contains(text, "hint: "):
				t.Errorf("a hint:\n%s", text)
			case tc.want != "":
				s.want(text, `^[^\n]*\nhint: it has probably met the limit of [^\n]*`+tc.want)
			}
		})
	}
}

// Without a limit what programs say of one is none of the server.
func TestWithoutLimits(t *testing.T) {
	s := start(t)
	s.engine.Configure(sandbox.Options{Limits: sandbox.Limits{Memory: -1, FileSize: -1, Files: -1, Processes: -1}})
	text := s.call(t.Context(), "bash", map[string]any{"command": "echo fork: Resource temporarily unavailable; echo Cannot allocate memory; exit 1"})
	if strings.Contains(text, "hint: ") {
		t.Errorf("a hint:\n%s", text)
	}
}
