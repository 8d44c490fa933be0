//go:build !linux

package workspace

import "errors"

// watcher is not offered: tables validate by stat.
type watcher struct{}

func newWatcher(dir) (*watcher, error) { return nil, errors.ErrUnsupported }

func (*watcher) add(dir) (int32, error)                            { return noWatch, errors.ErrUnsupported }
func (*watcher) remove(int32)                                      {}
func (*watcher) events(func(wd int32, e event, name []byte)) error { return errors.ErrUnsupported }
func (*watcher) mountsChanged(dir) bool                            { return false }
func (*watcher) close()                                            {}
