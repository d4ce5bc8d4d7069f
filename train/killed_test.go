package train_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/train"
)

// The process that is killed reads these.
const (
	killedFolder = "GOFX_TRAIN_KILLED_FOLDER"
	killedAfter  = "GOFX_TRAIN_KILLED_AFTER" // so many steps; 0: never
)

// TestTrainer_killedProcess kills a process that trains after each number of steps, and has another process,
// with another number of threads, go on from the checkpoint that it left. Losses and the state are
// those of a process that was not killed, bit for bit.
func TestTrainer_killedProcess(t *testing.T) {
	if folder := os.Getenv(killedFolder); folder != "" {
		trainUntilKilled(t, folder)
		return
	}
	if testing.Short() {
		t.Skip("-short: it starts 24 processes")
	}
	trainIn := func(folder string, after int) error {
		cmd := exec.CommandContext(ctx, os.Args[0], "-test.run=^TestTrainer_killedProcess$")
		cmd.Env = append(os.Environ(), killedFolder+"="+folder, killedAfter+"="+strconv.Itoa(after))
		out, err := cmd.CombinedOutput()
		if ended := new(exec.ExitError); err != nil && (!errors.As(err, &ended) || ended.ExitCode() != -1) {
			require.NoError(t, err, "%s", out)
		}
		return err
	}
	whole := t.TempDir()
	require.NoError(t, trainIn(whole, 0))
	want := lossesIn(t, whole)
	require.Len(t, want, 12)
	for after := 1; after < 12; after++ {
		folder := t.TempDir()
		require.Error(t, trainIn(folder, after), "it was killed")
		require.Len(t, lossesIn(t, folder), after)
		require.NoError(t, trainIn(folder, 0))
		require.Equal(t, want, lossesIn(t, folder), "killed after step %d", after)
		for _, name := range []string{"checkpoints/*", "state"} {
			require.Equal(t, contents(t, whole, name), contents(t, folder, name))
		}
	}
}

// trainUntilKilled trains, writes the loss of each step to a file, and ends its process as a signal does
// that cannot be caught.
func trainUntilKilled(t *testing.T, folder string) {
	after, err := strconv.Atoi(os.Getenv(killedAfter))
	require.NoError(t, err)
	log, err := os.OpenFile(filepath.Join(folder, "losses"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	require.NoError(t, err)
	var losses []float64
	m, tr := trainer(t, rule, &losses)
	require.NoError(t, tr.Step.Compile(ctx, lowering.Options{Threads: 1 + after%2}))
	tr.Checkpoints = train.Checkpoints{Dir: filepath.Join(folder, "checkpoints"), Every: 1 + after%3}
	tr.OnBatch = func(_ context.Context, b train.Batch) error {
		_, err := fmt.Fprintf(log, "%d %x\n", b.Step, b.Metrics["loss"])
		if b.Step == after {
			p, _ := os.FindProcess(os.Getpid())
			_ = p.Kill()
			select {}
		}
		return err
	}
	_, err = tr.Fit(ctx, batches(t), batches(t))
	require.NoError(t, err)
	var text strings.Builder
	for _, a := range state(m) {
		fmt.Fprintf(&text, "%x\n", array.Bytes(a))
	}
	require.NoError(t, os.WriteFile(filepath.Join(folder, "state"), []byte(text.String()), 0o644))
}

// lossesIn are the losses by step that processes wrote; those of a step that was made again must be the same.
func lossesIn(t *testing.T, folder string) map[string]string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(folder, "losses"))
	require.NoError(t, err)
	all := map[string]string{}
	for line := range strings.Lines(string(text)) {
		step, loss, _ := strings.Cut(line, " ")
		if before, again := all[step]; again {
			require.Equal(t, before, loss, "step %s", step)
		}
		all[step] = loss
	}
	return all
}

// contents are the files of a folder that a pattern names.
func contents(t *testing.T, folder, pattern string) map[string]string {
	t.Helper()
	list, err := filepath.Glob(filepath.Join(folder, pattern))
	require.NoError(t, err)
	require.NotEmpty(t, list)
	all := map[string]string{}
	for _, name := range list {
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		all[filepath.Base(name)] = string(text)
	}
	return all
}

// TestTrainer_restart begins again in the folder of a longer training. Its first checkpoint takes
// the place of that one's, though the other's steps are later ones, and a third training goes on
// from it.
func TestTrainer_restart(t *testing.T) {
	dir := t.TempDir()
	var losses []float64
	fit := func(epochs int, c train.Checkpoints) {
		_, tr := trainer(t, rule, &losses)
		c.Dir = dir
		tr.Epochs, tr.Checkpoints = epochs, c
		_, err := tr.Fit(ctx, batches(t), batches(t))
		require.NoError(t, err)
	}
	files := func() []string { return slices.Sorted(maps.Keys(contents(t, dir, "*"))) }
	fit(3, train.Checkpoints{Keep: 2})
	long := files()
	require.Len(t, long, 2)
	fit(1, train.Checkpoints{Keep: 2, Restart: true})
	require.Len(t, files(), 1)
	require.NotContains(t, long, files()[0])
	losses = nil
	fit(2, train.Checkpoints{})
	steps := len(losses)
	losses = nil
	fit(1, train.Checkpoints{Restart: true})
	require.Len(t, losses, steps, "one epoch was left")
}

// TestTrainer_folderInUse trains twice at once in one folder: the second is refused before anything is
// read or removed, whether it would go on or begin again, and the first ends as if it were alone.
func TestTrainer_folderInUse(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "checkpoints")
	var losses []float64
	_, first := trainer(t, rule, &losses)
	first.Checkpoints = train.Checkpoints{Dir: dir, Every: 1}
	refused := 0
	first.OnBatch = func(context.Context, train.Batch) error {
		for _, c := range []train.Checkpoints{{Dir: dir}, {Dir: filepath.Join(dir, "..", "checkpoints"), Restart: true}} {
			var none []float64
			_, second := trainer(t, rule, &none)
			second.Checkpoints = c
			done := make(chan error)
			go func() {
				_, err := second.Fit(ctx, batches(t), batches(t))
				done <- err
			}()
			err := <-done
			require.ErrorIs(t, err, train.FolderInUse)
			require.ErrorContains(t, err, "process "+strconv.Itoa(os.Getpid())+" trains with checkpoints in "+c.Dir)
			require.Empty(t, none)
			refused++
		}
		return nil
	}
	first.Epochs = 1
	_, err := first.Fit(ctx, batches(t), batches(t))
	require.NoError(t, err)
	require.Equal(t, 8, refused)
	require.Len(t, contents(t, dir, "*"), 1, "the lock is gone")
	last, err := first.Checkpoints.Last()
	require.NoError(t, err)
	require.Equal(t, "step-00000004.safetensors", filepath.Base(last))
}

// TestTrainer_noFolder trains where checkpoints cannot be written: that is said before the first step, and
// folders that were made for nothing are gone. What ended can be read.
func TestTrainer_noFolder(t *testing.T) {
	root := t.TempDir()
	file := filepath.Join(root, "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	var losses []float64
	_, tr := trainer(t, rule, &losses)
	tr.Checkpoints = train.Checkpoints{Dir: filepath.Join(file, "checkpoints"), Restart: true}
	_, err := tr.Fit(ctx, batches(t), batches(t))
	require.ErrorIs(t, err, train.BadCheckpoint)
	require.ErrorContains(t, err, "check the permissions and the space of the folder")
	require.Empty(t, losses)

	_, tr = trainer(t, rule, &losses)
	tr.Checkpoints = train.Checkpoints{Dir: filepath.Join(root, "a", "b")}
	failed := errors.New("the first batch")
	tr.OnBatch = func(context.Context, train.Batch) error { return failed }
	_, err = tr.Fit(ctx, batches(t), batches(t))
	require.ErrorIs(t, err, failed)
	require.Equal(t, map[string]string{"file": ""}, contents(t, root, "*"))
}
