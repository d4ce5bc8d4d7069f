package swap

import (
	"os"
	"path/filepath"
	"slices"
	"time"
)

// holdFor is how long a lock is waited for. Files are put in place within milliseconds, so
// that a holder of longer was stopped; nobody waits for it for ever.
const holdFor = 10 * time.Second

// Hold keeps others from putting several files in place in a folder until release is called.
// Readers of files that belong together share it: none of them reads one file of an old
// making and the next of a new one. The system gives the lock back when a process is killed.
// Where folders have no locks, or a lock is not given within ten seconds, nobody is kept.
func Hold(dir string, shared bool) (release func()) {
	d, err := os.Open(dir)
	if err != nil {
		return func() {} // who uses the folder says why it cannot be
	}
	for end := time.Now().Add(holdFor); !tryLock(d, shared) && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
	return func() { _ = d.Close() } // which gives back the lock
}

// holdAll holds the folders of files, each once, in one order for all processes.
func holdAll(files []File) (release func()) {
	var dirs []string
	for _, f := range files {
		dir, err := filepath.Abs(filepath.Dir(f.Path))
		if err != nil {
			dir = filepath.Dir(f.Path)
		}
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			dir = real
		}
		dirs = append(dirs, dir)
	}
	slices.Sort(dirs)
	var held []func()
	for _, dir := range slices.Compact(dirs) {
		held = append(held, Hold(dir, false))
	}
	return func() {
		for _, release := range held {
			release()
		}
	}
}
