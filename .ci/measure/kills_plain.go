package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sync"
)

// servePlain answers calls on stdio, and writes files as most programs do: where
// they stand. It is what kills must be able to find out.
func servePlain(dir string) error {
	var mu sync.Mutex
	lines := bufio.NewReaderSize(os.Stdin, 1<<20)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return nil // the client is gone
		}
		var m struct {
			ID     json.RawMessage
			Params struct {
				Arguments struct{ Path, Content string }
			}
		}
		if err := json.Unmarshal(line, &m); err != nil || m.ID == nil {
			continue
		}
		go func() {
			failed := false
			if args := m.Params.Arguments; args.Path != "" {
				name := filepath.Join(dir, filepath.FromSlash(args.Path))
				failed = os.MkdirAll(filepath.Dir(name), 0o755) != nil || os.WriteFile(name, []byte(args.Content), 0o644) != nil
			}
			mu.Lock()
			defer mu.Unlock()
			fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":{"isError":%t}}`+"\n", m.ID, failed)
		}()
	}
}
