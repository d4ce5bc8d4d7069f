package host

import (
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestForeignLoad(t *testing.T) {
	at := time.Unix(100, 0)
	a := Load{all: 10, ours: 4, at: at, ok: true}
	require.InDelta(t, 1.5, a.Foreign(Load{all: 16, ours: 7, at: at.Add(2 * time.Second), ok: true}), 1e-12)
	require.Zero(t, a.Foreign(Load{all: 11, ours: 6, at: at.Add(time.Second), ok: true}), "rounding never gives a negative load")
	require.Zero(t, a.Foreign(Load{all: 11, at: at.Add(time.Second)}), "unknown")
}

func TestOwnWorkIsNotForeign(t *testing.T) {
	if _, err := os.Stat("/proc/stat"); err != nil {
		t.Skip("no /proc on this system")
	}
	a := ReadLoad(nil)
	b := a
	for start := time.Now(); b.ours-a.ours < 0.1; b = ReadLoad(nil) {
		require.Less(t, time.Since(start), time.Minute, "this process is busy, which does not show")
	}
	require.True(t, a.ok && b.ok)
	require.GreaterOrEqual(t, b.all-a.all, 0.05)
}

func TestCommit(t *testing.T) {
	if exec.Command("git", "rev-parse", "HEAD").Run() != nil {
		t.Skip("the commit is not known: the tests run outside of a git repository, or git is missing")
	}
	require.Regexp(t, `^[0-9a-f]{12}(, changed)?$`, Commit())
}
