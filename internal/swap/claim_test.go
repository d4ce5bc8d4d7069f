//go:build linux || darwin

package swap

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const claimedFolder = "GOFX_SWAP_CLAIMED" // which a process that is killed reads

// A folder has one owner at a time, in this process or another; what was made for it in vain goes.
func TestClaim(t *testing.T) {
	root := t.TempDir()
	dir := filepath.Join(root, "a", "b")
	release, by, err := Claim(dir, ".lock")
	require.NoError(t, err)
	require.Empty(t, by)
	require.Equal(t, []string{".lock"}, list(t, dir))
	for range 2 {
		_, by, err = Claim(dir, ".lock")
		require.NoError(t, err)
		require.Equal(t, "process "+strconv.Itoa(os.Getpid()), by)
	}
	require.Equal(t, by, Owner(dir, ".lock"))
	require.Empty(t, Owner(dir, ".other"))
	other, by, err := Claim(dir, ".other")
	require.NoError(t, err)
	require.Empty(t, by)
	other()
	release()
	require.Empty(t, list(t, root))

	release, _, err = Claim(dir, ".lock")
	require.NoError(t, err)
	write(t, filepath.Join(dir, "file"), "")
	release()
	require.Equal(t, []string{"file"}, list(t, dir))

	write(t, filepath.Join(root, "file"), "")
	_, _, err = Claim(filepath.Join(root, "file", "c"), ".lock")
	require.Error(t, err)
	_, _, err = Claim(filepath.Join(root, "c", "d\x00"), ".lock")
	require.Error(t, err)
	require.Equal(t, []string{"a", "file"}, list(t, root))
}

// Of many at once never two own the folder, and each owns it in the end.
func TestClaim_together(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "d")
	var owners, most atomic.Int32
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for done := 0; done < 50; {
				release, by, err := Claim(dir, ".lock")
				if !assert.NoError(t, err) {
					return
				}
				if by != "" {
					time.Sleep(time.Microsecond)
					continue
				}
				if owners.Add(1) > 1 {
					most.Store(1)
				}
				owners.Add(-1)
				release()
				done++
			}
		})
	}
	all.Wait()
	require.Zero(t, most.Load())
	require.NoFileExists(t, filepath.Join(dir, ".lock"))
}

// The lock of a process that is killed is nobody's.
func TestClaim_killed(t *testing.T) {
	if dir := os.Getenv(claimedFolder); dir != "" {
		_, by, err := Claim(dir, ".lock")
		if err != nil || by != "" {
			os.Exit(1)
		}
		p, _ := os.FindProcess(os.Getpid())
		_ = p.Kill()
		time.Sleep(time.Minute)
	}
	dir := t.TempDir()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestClaim_killed$")
	cmd.Env = append(os.Environ(), claimedFolder+"="+dir)
	ended := new(exec.ExitError)
	require.ErrorAs(t, cmd.Run(), &ended)
	require.Equal(t, -1, ended.ExitCode(), "it was killed")
	require.Equal(t, []string{".lock"}, list(t, dir))
	require.Empty(t, Owner(dir, ".lock"))
	release, by, err := Claim(dir, ".lock")
	require.NoError(t, err)
	require.Empty(t, by)
	release()
	require.Empty(t, list(t, dir))
}
