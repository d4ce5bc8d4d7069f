//go:build linux

package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/cmd/fxgen/internal/proc"
	"github.com/gofx-dev/gofx/lowering/gpu"
)

const stubborn = `package net

import (
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"syscall"

	"github.com/gofx-dev/gofx/tensor"
)

// Net heeds no signal, starts a program that heeds none, and never ends.
func Net(x *tensor.Tensor) *tensor.Tensor {
	signal.Ignore(os.Interrupt, syscall.SIGTERM)
	child := exec.Command("sleep", "1000")
	if err := child.Start(); err != nil {
		return nil
	}
	pids := strconv.Itoa(os.Getpid()) + " " + strconv.Itoa(child.Process.Pid)
	if os.WriteFile(os.Getenv("PIDS")+".tmp", []byte(pids), 0o666) == nil {
		os.Rename(os.Getenv("PIDS")+".tmp", os.Getenv("PIDS"))
	}
	for {
	}
}
`

// userModule writes a module with package net.
func userModule(t *testing.T, source string) (dir string) {
	dir = t.TempDir()
	mod, err := os.ReadFile(filepath.Join(repo(t), "go.mod"))
	require.NoError(t, err)
	sum, err := os.ReadFile(filepath.Join(repo(t), "go.sum"))
	require.NoError(t, err)
	requires := string(mod[bytes.Index(mod, []byte("require (")):])
	for name, text := range map[string]string{
		"go.mod":     "module example.com/m\n\ngo 1.26.0\n\nrequire github.com/gofx-dev/gofx v0.0.0\n\nreplace github.com/gofx-dev/gofx => " + repo(t) + "\n" + requires,
		"go.sum":     string(sum),
		"net/net.go": source,
	} {
		path := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o777))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o666))
	}
	return dir
}

// alive reports whether a process runs; one that has ended and that nobody has
// waited for does not.
func alive(pid string) bool {
	stat, err := os.ReadFile("/proc/" + pid + "/stat")
	return err == nil && !strings.Contains(string(stat[bytes.LastIndexByte(stat, ')'):]), "Z")
}

// A signal to fxgen alone, whatever it is doing, ends the processes that it
// started and leaves no files.
func TestSignals(t *testing.T) {
	bin := fxgenBinary(t)
	dir := userModule(t, stubborn)
	require.NoError(t, syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600))
	for _, c := range []struct {
		name string
		args []string
		sig  syscall.Signal
		wait bool // until the model runs
	}{
		{"model, SIGINT", []string{"gen", "-o", "out", "./net#Net"}, syscall.SIGINT, true},
		{"model, SIGTERM", []string{"print", "-o", "out", "./net#Net"}, syscall.SIGTERM, true},
		{"load", []string{"gen", "-o", "out", "./net#Net"}, syscall.SIGTERM, false},
		{"this process", []string{"bench", "-min-time", "1h", "mlp"}, syscall.SIGINT, false},
		{"device", []string{"bench", "-min-time", "1h", "-engine", "gpu", "resnet18"}, syscall.SIGINT, false},
		{"pipe that nobody reads", []string{"print", "-o", "pipe", "mlp"}, syscall.SIGTERM, false},
		{"generated program", []string{"bench", "-min-time", "1h", "-engine", "gen", "mlp"}, syscall.SIGTERM, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			device := c.name == "device"
			if _, err := gpu.Open(""); device && err != nil {
				t.Skip(err)
			}
			tmp := t.TempDir()
			pids := filepath.Join(t.TempDir(), "pids")
			cmd := exec.Command(bin, c.args...)
			cmd.Dir = dir
			cmd.Env = append(os.Environ(), "TMPDIR="+tmp, "GOTMPDIR=", "PIDS="+pids, "GOFLAGS=", "GOPROXY=off")
			if device { // whose driver compiles for longer than that
				cmd.Env = append(cmd.Env, "XDG_CACHE_HOME="+t.TempDir())
			}
			var errs bytes.Buffer
			cmd.Stderr = &errs
			startHeeding(t, cmd)
			ended := make(chan error, 1)
			go func() { ended <- cmd.Wait() }()
			if c.wait {
				for ran := false; !ran; {
					_, err := os.Stat(pids)
					ran = err == nil
					select {
					case err := <-ended:
						require.Fail(t, "the model never ran", "%v %s", err, errs.String())
					case <-time.After(20 * time.Millisecond):
					}
				}
			} else {
				time.Sleep(400 * time.Millisecond) // in the middle of something, whatever that is
			}
			require.NoError(t, cmd.Process.Signal(c.sig))
			err := <-ended
			require.Equal(t, fmt.Sprintf("exit status %d", 128+int(c.sig)), fmt.Sprint(err), "%s", errs.String())
			said := errs.String()
			if device { // whose driver may say that its compiler did not come to an end
				said = said[max(0, strings.LastIndex(said, "fxgen:")):]
			}
			require.Equal(t, "fxgen: ended by a signal\n", said)
			if text, err := os.ReadFile(pids); err == nil {
				for _, pid := range strings.Fields(string(text)) {
					n, err := strconv.Atoi(pid)
					require.NoError(t, err)
					require.Positive(t, n)
					// A killed process is gone once the system has had its turn.
					require.Eventually(t, func() bool { return !alive(pid) }, patience, 10*time.Millisecond, "process %s runs on", pid)
				}
			}
			require.Empty(t, leftover(t, tmp))
			require.NoFileExists(t, filepath.Join(dir, "out"))
			require.NoDirExists(t, filepath.Join(dir, "out"))
		})
	}
}

// patience bounds the waiting of a test: it decides only when to give up. A process
// that should have ended would go on for longer.
const patience = time.Minute

// startHeeding starts fxgen and waits until it heeds signals: before, as on a busy
// machine, they end any program. It begins with one of them ignored, which the system
// tells of a process, and heeds that one last.
func startHeeding(t *testing.T, cmd *exec.Cmd) {
	signal.Ignore(syscall.SIGHUP)
	err := cmd.Start()
	signal.Reset(syscall.SIGHUP)
	require.NoError(t, err)
	require.Equal(t, syscall.SIGHUP, proc.Signals[len(proc.Signals)-1])
	ignored := regexp.MustCompile(`(?m)^SigIgn:\s*[0-9a-f]*([0-9a-f])$`) // SIGHUP is the lowest bit
	for pid := strconv.Itoa(cmd.Process.Pid); ; time.Sleep(time.Millisecond) {
		require.True(t, alive(pid), "%s", cmd.Stderr)
		text, err := os.ReadFile("/proc/" + pid + "/status")
		require.NoError(t, err)
		mask := ignored.FindSubmatch(text)
		require.NotNil(t, mask, "%s", text)
		if bits, err := strconv.ParseUint(string(mask[1]), 16, 8); err == nil && bits&1 == 0 {
			return
		}
	}
}

// leftover lists a folder. Programs that the go command was asked to end may take
// a moment to remove theirs.
func leftover(t *testing.T, dir string) (names []string) {
	for start := time.Now(); time.Since(start) < patience; time.Sleep(20 * time.Millisecond) {
		list, err := os.ReadDir(dir)
		require.NoError(t, err)
		if names = nil; len(list) == 0 {
			return nil
		}
		for _, e := range list {
			names = append(names, e.Name())
		}
	}
	return names
}

// places is a model that says where its temporary files go.
const places = `package net

import (
	"os"

	"github.com/gofx-dev/gofx/tensor"
)

func Net(x *tensor.Tensor) *tensor.Tensor {
	text := os.TempDir()
	for _, name := range []string{"TMPDIR", "TMP", "FXGEN_USER_TMPDIR"} {
		v, ok := os.LookupEnv(name)
		if ok {
			text += " " + name + "=" + v
		}
	}
	if err := os.WriteFile(os.Getenv("PIDS"), []byte(text), 0o666); err != nil {
		panic(err)
	}
	return x.Neg()
}
`

// TestModelsKeepTheirTemporaryFolder: a model finds its temporary files again in the next run; the
// go command's files are elsewhere.
func TestModelsKeepTheirTemporaryFolder(t *testing.T) {
	bin := fxgenBinary(t)
	dir := userModule(t, places)
	tmp, said := t.TempDir(), filepath.Join(t.TempDir(), "said")
	cmd := exec.Command(bin, "print", "-input", "x=f32[2]", "./net#Net")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "TMPDIR="+tmp, "TMP=other", "GOTMPDIR=", "PIDS="+said, "GOFLAGS=", "GOPROXY=off")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	text, err := os.ReadFile(said)
	require.NoError(t, err)
	require.Equal(t, tmp+" TMPDIR="+tmp+" TMP=other", string(text))
	require.Empty(t, leftover(t, tmp))
}
