package workdir

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// user gives a test a cache folder of its own.
func user(t *testing.T) string {
	if runtime.GOOS != "linux" {
		t.Skip("the folder of caches is named by XDG_CACHE_HOME on Linux alone")
	}
	dir := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", dir)
	return dir
}

func TestOf_sameNameInEveryRun(t *testing.T) {
	base := user(t)
	var runs [2][]string
	for i := range runs {
		t.Run("run", func(t *testing.T) {
			for range 2 {
				dir := Of(named{t, "TestX"})
				require.Empty(t, list(t, dir), "run %d", i)
				require.NoError(t, os.WriteFile(filepath.Join(dir, "go.mod"), nil, 0o600))
				require.NoError(t, os.Mkdir(filepath.Join(dir, "closed"), 0o500))
				runs[i] = append(runs[i], dir)
			}
		})
	}
	require.Equal(t, runs[0], runs[1])
	require.NotEqual(t, runs[0][0], runs[0][1], "each module has a folder")
	for _, dir := range runs[0] {
		require.NoDirExists(t, dir, "emptied")
		require.Equal(t, filepath.Join(base, "gofx", "tests"), filepath.Dir(dir))
	}
	t.Run("other", func(t *testing.T) { require.NotContains(t, runs[0], Of(t), "another test") })
}

// A folder that another process has is not touched.
func TestOf_heldByOthers(t *testing.T) {
	user(t)
	held := map[string]bool{}
	for range most {
		held[Of(t)] = true
	}
	require.Len(t, held, most)
	require.False(t, held[Of(t)], "a temporary one")
}

func TestKept(t *testing.T) {
	user(t)
	dir, err := Kept("programs")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "a"), nil, 0o600))
	again, err := Kept("programs")
	require.NoError(t, err)
	require.Equal(t, dir, again)
	require.Equal(t, []string{"a"}, list(t, again))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "b"), nil, 0o600))
	for name, age := range map[string]time.Duration{"a": unused + time.Hour, "b": unused - time.Hour} {
		then := time.Now().Add(-age)
		require.NoError(t, os.Chtimes(filepath.Join(dir, name), then, then))
	}
	_, err = Kept("programs")
	require.NoError(t, err)
	require.Equal(t, []string{"b"}, list(t, dir), "what nobody uses goes")
	other, err := Kept("others")
	require.NoError(t, err)
	require.NotEqual(t, dir, other)
}

// A folder that was left by a process that was killed is emptied when it is taken.
func TestOf_leftByKilledProcess(t *testing.T) {
	user(t)
	dir, err := path(t.Name() + "\x000")
	require.NoError(t, err)
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "old"), 0o700))
	require.Equal(t, dir, Of(t))
	require.Empty(t, list(t, dir))
}

// Where nothing can be kept, folders are temporary ones.
func TestOf_noFolderOfTheUser(t *testing.T) {
	base := user(t)
	require.NoError(t, os.WriteFile(filepath.Join(base, "gofx"), nil, 0o600))
	require.Empty(t, list(t, Of(t)))
	_, err := Kept("programs")
	require.Error(t, err)
	t.Setenv("XDG_CACHE_HOME", "")
	t.Setenv("HOME", "")
	require.Empty(t, list(t, Of(t)))
}

type named struct {
	testing.TB
	name string
}

func (n named) Name() string { return n.name }

func list(t *testing.T, dir string) (names []string) {
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}
