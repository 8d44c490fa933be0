package jobs

import "toolcrib/workspace"

// spoolFolder is the folder of the state that the output lies in.
const spoolFolder = "output"

// spool makes a file for the output of a job, in the state of its workspace.
func (m *Manager) spool(ws *workspace.Workspace) (store, error) {
	dir, err := ws.State()
	if err != nil {
		return nil, err
	}
	m.mu.Lock()
	swept := m.swept[dir.Path()]
	m.swept[dir.Path()] = true
	m.mu.Unlock()
	if !swept {
		_ = dir.Sweep(spoolFolder) // what is left lies there until the next time
	}
	return dir.Spool(spoolFolder)
}

// grant takes disk for a log: that of the jobs that ended first, where there is no more.
func (m *Manager) grant(want int64) bool {
	for {
		m.mu.Lock()
		if m.disk+want <= m.opt.Disk {
			m.disk += want
			m.mu.Unlock()
			return true
		}
		var oldest *Job
		for _, j := range m.jobs {
			if j.isDone() && j.log.onDisk() && (oldest == nil || j.Ended().Before(oldest.Ended())) {
				oldest = j
			}
		}
		m.mu.Unlock()
		if oldest == nil {
			return false
		}
		m.Forget(oldest)
	}
}
