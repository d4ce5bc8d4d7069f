// Package workdir gives tests folders that have the same names in every run. The go command looks
// for what it has compiled, vetted and linked by the name of the package's folder, too: of a module in
// a folder with a new name, such as those of [testing.T.TempDir], it makes everything again.
package workdir

import (
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"
)

// here is the folder of the package whose tests run: two checkouts share nothing.
var here, _ = os.Getwd()

// path is a name below the user's cache folder, for a name in the package that runs.
func path(name string) (string, error) {
	base, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256([]byte(here + "\x00" + name))
	return filepath.Join(base, "gofx", "tests", hex.EncodeToString(sum[:8])), nil
}

// unused is after how long a file goes that no run has used; the go command's cache has the same limit.
const unused = 5 * 24 * time.Hour

// Kept returns a folder that stays from run to run with the files that tests leave in it. A file that was
// not written or touched for five days is removed.
func Kept(name string) (string, error) {
	dir, err := path(name)
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	files, err := os.ReadDir(dir)
	if err != nil {
		return "", err
	}
	for _, f := range files {
		if info, err := f.Info(); err == nil && info.Mode().IsRegular() && time.Since(info.ModTime()) > unused {
			_ = os.Remove(filepath.Join(dir, f.Name())) // another process may have done so
		}
	}
	return dir, nil
}

// most is how many folders one test, and other processes that run it, may have at once.
const most = 8

// Of returns an empty folder for the module of a test, which is emptied after the test. A test that
// asks again gets another one, in the same order in every run. Where there is none that no other
// process has, it is a temporary one.
func Of(t testing.TB) string {
	t.Helper()
	for i := range most {
		dir, err := path(t.Name() + "\x00" + strconv.Itoa(i))
		if err != nil || os.MkdirAll(filepath.Dir(dir), 0o700) != nil {
			break
		}
		unlock, ok := lock(dir + ".lock")
		if !ok {
			continue
		}
		if clear(dir) != nil || os.Mkdir(dir, 0o700) != nil {
			unlock()
			break
		}
		t.Cleanup(func() {
			if err := clear(dir); err != nil {
				t.Error(err)
			}
			unlock()
		})
		return dir
	}
	return t.TempDir()
}

// clear removes a folder, also one in which tests have made folders that nobody may write to.
func clear(dir string) error {
	if err := os.RemoveAll(dir); err == nil {
		return nil
	}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if d != nil && d.IsDir() {
			return os.Chmod(path, 0o700)
		}
		return err
	})
	if err != nil {
		return err
	}
	return os.RemoveAll(dir)
}
