// Package proc runs the programs that fxgen starts, and knows its temporary files,
// so that a signal to fxgen alone ends the ones and removes the others: what the go
// command starts in turn included.
package proc

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"sync"
	"time"
)

// Grace is how long a program may take to end after it was asked to; then it is
// killed.
const Grace = 300 * time.Millisecond

// table lists what must not outlive this process.
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
	if err := cmd.Start(); err != nil {
		return errors.Join(ctx.Err(), err)
	}
	id := cmd.Process.Pid
	table.Lock()
	table.groups[id] = true
	table.Unlock()
	err := cmd.Wait()
	if ctx.Err() != nil {
		kill(id)
		err = ctx.Err()
	}
	table.Lock()
	delete(table.groups, id)
	table.Unlock()
	return err
}

// Output runs a command made by Command and returns what it printed, to stdout and
// stderr.
func Output(ctx context.Context, cmd *exec.Cmd) ([]byte, error) {
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := Run(ctx, cmd)
	return out.Bytes(), err
}

// TempDir makes a folder for what the go command builds and runs; remove removes
// it.
func TempDir() (dir string, remove func(), err error) {
	dir, err = os.MkdirTemp(os.Getenv("GOTMPDIR"), "fxgen-")
	if err != nil {
		return "", nil, err
	}
	return dir, Temporary(dir), nil
}

// Temporary enters a file or folder that does not outlive this process; remove
// removes it.
func Temporary(path string) (remove func()) {
	table.Lock()
	table.paths[path] = true
	table.Unlock()
	return func() {
		os.RemoveAll(path)
		table.Lock()
		delete(table.paths, path)
		table.Unlock()
	}
}

// Commit runs f, which Exit lets finish once it has begun.
func Commit(f func() error) error {
	committing.Lock()
	defer committing.Unlock()
	return f()
}

// Exit ends this process after a signal, whatever it does: it kills what still runs
// and removes what is still there.
func Exit(s os.Signal) {
	committing.Lock() // for good
	abandon()
	os.Exit(ExitCode(s))
}

func abandon() {
	table.Lock()
	defer table.Unlock()
	for id := range table.groups {
		kill(id)
	}
	for path := range table.paths {
		os.RemoveAll(path)
	}
}
