// Package proc runs the programs that fxgen starts, and knows its temporary files,
// so that a signal to fxgen alone ends the programs, including those that the go
// command starts, and removes the files.
package proc

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"sync"
	"time"

	"github.com/gofx-dev/gofx/diag"
)

// Grace is how long a program may take to end after it was asked to; then it is
// killed.
const Grace = 300 * time.Millisecond

// table lists the processes and files that must not outlive this process.
var table = struct {
	sync.Mutex
	paths  map[string]bool // temporary files and folders
	groups map[int]bool    // process groups
}{paths: map[string]bool{}, groups: map[int]bool{}}

// committing is held while finished files are put in place: all or none of them.
var committing sync.Mutex

// Command is exec.Command with a process group of its own, which is ended with ctx.
func Command(ctx context.Context, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	group(cmd)
	cmd.Cancel = func() error {
		time.AfterFunc(Grace, func() { kill(cmd.Process.Pid) })
		return interrupt(cmd.Process)
	}
	return cmd
}

// Run runs a command made by Command. When its context ends it returns the
// context's error, and nothing that the command started runs any more.
func Run(ctx context.Context, cmd *exec.Cmd) error {
	id, err := start(cmd)
	if err != nil {
		return errors.Join(ctx.Err(), err)
	}
	err = cmd.Wait()
	if ctx.Err() != nil {
		kill(id)
		err = ctx.Err()
	}
	table.Lock()
	delete(table.groups, id)
	table.Unlock()
	return err
}

// start starts a command and enters its group at once: Exit ends it, or it does not start.
func start(cmd *exec.Cmd) (id int, err error) {
	table.Lock()
	defer table.Unlock()
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	table.groups[cmd.Process.Pid] = true
	return cmd.Process.Pid, nil
}

// Output runs a command made by Command and returns its output on stdout and
// stderr.
func Output(ctx context.Context, cmd *exec.Cmd) ([]byte, error) {
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := Run(ctx, cmd)
	return out.Bytes(), err
}

// TempDir makes a folder for files that the go command builds and runs, or that become results;
// remove removes it.
func TempDir() (dir string, remove func(), err error) {
	remove, err = temporary(func() (string, error) {
		dir, err = os.MkdirTemp(os.Getenv("GOTMPDIR"), "fxgen-")
		return dir, err
	})
	if err != nil {
		e := &diag.Error{Code: NoFolder, Msg: "there is no place for temporary files", Err: err}
		return "", nil, e.WithHint("set TMPDIR, and GOTMPDIR if it is set, to a folder that can be written to, and look at the space of its disk")
	}
	return dir, remove, nil
}

// Create makes a file that does not outlive this process; remove removes it.
func Create(path string) (f *os.File, remove func(), err error) {
	remove, err = temporary(func() (string, error) {
		f, err = os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
		return path, err
	})
	return f, remove, err
}

// temporary makes a file or folder and enters it at once: Exit removes it, or it is
// not made.
func temporary(create func() (path string, err error)) (remove func(), err error) {
	table.Lock()
	defer table.Unlock()
	path, err := create()
	if err != nil {
		return nil, err
	}
	table.paths[path] = true
	return func() {
		discard(path)
		table.Lock()
		delete(table.paths, path)
		table.Unlock()
	}, nil
}

// discard removes a file or folder. A program that was killed a moment ago may still
// finish the system call in which it puts a file there; it makes no other.
func discard(path string) {
	for range 50 {
		if os.RemoveAll(path) == nil {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// Commit runs f, which Exit lets finish once it has begun.
func Commit(f func() error) error {
	committing.Lock()
	defer committing.Unlock()
	return f()
}

// Exit ends this process after a signal, whatever it does: it kills the processes
// that still run and removes the files that still exist.
func Exit(s os.Signal) {
	committing.Lock() // for good
	abandon()
	os.Exit(ExitCode(s))
}

// abandon keeps the table locked: nothing is started or made after it.
func abandon() {
	table.Lock()
	for id := range table.groups {
		kill(id)
	}
	for path := range table.paths {
		discard(path)
	}
}
