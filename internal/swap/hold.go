package swap

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
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

// Claim makes the caller the only owner of a folder until release is called, which it makes if
// necessary, and does not wait: by says who the owner is, "" for the caller. For that a file of the given
// name is locked in it. Owners are kept apart by name; those who Hold the folder, or replace files in
// it, are not kept. The file of a killed owner may stay, its lock does not. release removes the
// file, and folders that were made in vain. Where files have no locks, nobody is kept.
func Claim(dir, name string) (release func(), by string, err error) {
	const (
		turns = 1000 // in which other owners end
		looks = 10   // of those who ask for the owner, which lock the file for a moment
	)
	busy := 0
	for range turns {
		var gone bool
		release, by, gone, err = claim(dir, name)
		switch {
		case gone:
		case by == "" || busy == looks:
			return release, by, err
		default:
			busy++
			time.Sleep(time.Millisecond)
		}
	}
	return release, by, err
}

// Owner says who has claimed a folder, "" for nobody. It makes and changes nothing.
func Owner(dir, name string) string {
	f, err := os.Open(filepath.Join(dir, name))
	if err != nil {
		return ""
	}
	defer f.Close()
	if tryLock(f, true) {
		return ""
	}
	return owner(f)
}

// claim is one attempt. gone says that an owner removed its file, or the folder, meanwhile.
func claim(dir, name string) (release func(), by string, gone bool, err error) {
	made, err := makeAll(dir)
	undo := func() {
		for _, dir := range slices.Backward(made) {
			_ = os.Remove(dir) // unless somebody uses it
		}
	}
	path := filepath.Join(dir, name)
	var f *os.File
	if err == nil {
		f, err = os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o666)
	}
	if err != nil {
		undo()
		return nil, "", errors.Is(err, fs.ErrNotExist), err
	}
	if !tryLock(f, false) {
		defer f.Close()
		return nil, owner(f), false, nil
	}
	mine, err := f.Stat()
	if now, e := os.Stat(path); err != nil || e != nil || !os.SameFile(mine, now) {
		_ = f.Close() // what is locked is no file of the folder any more
		return nil, "", true, errors.Join(err, e)
	}
	_ = f.Truncate(0) // who reads no number says so
	_, _ = f.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
	return func() {
		_ = os.Remove(path) // while it is locked: the next owner makes another
		_ = f.Close()
		undo()
	}, "", false, nil
}

// owner says who has written to a locked file.
func owner(f *os.File) string {
	const most = 32 // bytes of a number and a line end
	b := make([]byte, most)
	n, _ := f.ReadAt(b, 0)
	if pid, err := strconv.Atoi(strings.TrimSpace(string(b[:n]))); err == nil {
		return "process " + strconv.Itoa(pid)
	}
	return "another process"
}

// makeAll is os.MkdirAll that returns the folders it made, the outermost first.
func makeAll(dir string) (made []string, err error) {
	for at := filepath.Clean(dir); ; at = filepath.Dir(at) {
		if _, err := os.Stat(at); err == nil || at == filepath.Dir(at) {
			break
		}
		made = append(made, at)
	}
	slices.Reverse(made)
	return made, os.MkdirAll(dir, 0o777)
}
