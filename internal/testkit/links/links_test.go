package links

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestMain is a linker when it is started as one.
func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == "link" {
		time.Sleep(time.Minute)
		return
	}
	os.Exit(m.Run())
}

// A linker that a shell has started is found, and is gone after its end.
func TestRunning_grandchildren(t *testing.T) {
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		t.Skip("there is no /proc")
	}
	self, err := os.Executable()
	require.NoError(t, err)
	dir := t.TempDir()
	link := filepath.Join(dir, "link")
	require.NoError(t, os.Symlink(self, link))
	cmd := exec.Command("sh", "-c", link+" -o program.exe & trap 'kill $!; exit 0' TERM; wait")
	cmd.Dir = dir
	require.NoError(t, cmd.Start())
	defer func() {
		require.NoError(t, cmd.Process.Signal(syscall.SIGTERM))
		require.NoError(t, cmd.Wait())
		require.Eventually(t, func() bool { return len(Running()) == 0 }, 30*time.Second, 10*time.Millisecond)
	}()
	want := "link program.exe in " + dir
	require.Eventually(t, func() bool { l := Running(); return len(l) == 1 && l[0] == want }, 30*time.Second, 10*time.Millisecond, "%q", Running())
}
