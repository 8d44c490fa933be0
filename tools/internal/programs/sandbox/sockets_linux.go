package sandbox

import (
	"bufio"
	"os"
	"strings"

	"toolcrib/tools/internal/programs/sandbox/internal/sandboxinit"
)

// sockets are those of the file system on which programs of the host listen and which do
// not lie in a root: what listens there is for the programs of the root to use.
func sockets(roots []sandboxinit.Dir) []string {
	f, err := os.Open("/proc/net/unix")
	if err != nil {
		return nil
	}
	defer f.Close()
	var paths []string
	for lines := bufio.NewScanner(f); lines.Scan(); {
		_, path, ok := strings.Cut(lines.Text(), " /")
		if path = "/" + path; ok && !within(path, roots) {
			paths = append(paths, path)
		}
	}
	return paths
}

// newSockets are those that the holder does not know yet.
func (h *holder) newSockets() []string {
	if h.opt.Level != Full {
		return nil
	}
	h.sendMu.Lock()
	defer h.sendMu.Unlock()
	var list []string
	for _, path := range sockets(h.view.Roots) {
		if !h.hidden[path] {
			list = append(list, path)
			h.hidden[path] = true
		}
	}
	return list
}
