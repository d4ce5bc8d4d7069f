package par

import "sync"

// workspaceList is a free list of workspaces for jobs, which may not use the
// caller's.
type workspaceList struct {
	mu   sync.Mutex
	list []*Workspace
}

var SpareWorkspaces workspaceList

func (l *workspaceList) Take() *Workspace {
	l.mu.Lock()
	defer l.mu.Unlock()
	last := len(l.list) - 1
	if last < 0 {
		return &Workspace{}
	}
	w := l.list[last]
	l.list = l.list[:last]
	return w
}

func (l *workspaceList) Put(w *Workspace) {
	l.mu.Lock()
	l.list = append(l.list, w)
	l.mu.Unlock()
}
