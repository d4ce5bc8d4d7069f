package swap

import (
	"crypto/rand"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// File is a finished file in the same folder as its destination.
type File struct{ Temp, Path string }

// Into puts files in their places. Of several that belong together main is the index of the
// one without which the others are useless, -1 for none: the old main is moved away first
// and the new one is put in place last, so that a reader in between, or after a kill, finds
// a missing file and never a mixture. On an error before any other file was replaced, the
// old main is back. Two callers do it one after the other, see Hold. Where a path is a folder, a
// device or a pipe nothing is replaced; of a symbolic link the link is, not its file.
func Into(files []File, main int) (err error) {
	if len(files) == 1 {
		main = -1 // one rename is whole by itself
	} else {
		defer holdAll(files)()
	}
	for _, f := range files { // before the first is replaced
		if err := replaceable(f.Path); err != nil {
			return err
		}
	}
	aside := ""
	if main >= 0 {
		aside = files[main].Temp + asideEnd
		switch err := os.Rename(files[main].Path, aside); {
		case os.IsNotExist(err):
			aside = ""
		case err != nil:
			return err
		}
	}
	done := 0
	defer func() {
		switch {
		case aside == "":
		case err != nil && done == 0:
			_ = os.Rename(aside, files[main].Path) // the first error tells more
		default:
			_ = os.Remove(aside)
		}
	}()
	for i, f := range files {
		if i == main {
			continue
		}
		if err := os.Rename(f.Temp, f.Path); err != nil {
			return err
		}
		done++
	}
	toDisk(files) // before the file whose presence means that all exist
	if main < 0 {
		return nil
	}
	if err := os.Rename(files[main].Temp, files[main].Path); err != nil {
		return err
	}
	done++
	toDisk(files[main : main+1])
	return nil
}

// replaceable refuses a path that a file must not take the place of: the contents of a folder
// would be lost, and a device would be none any more.
func replaceable(path string) error {
	info, err := os.Stat(path)
	switch {
	case err != nil || info.Mode().IsRegular():
		return nil // what is wrong with the path, renaming says
	case info.IsDir():
		return &os.PathError{Op: "replace", Path: path, Err: syscall.EISDIR}
	}
	return &os.PathError{Op: "replace", Path: path, Err: errors.New("is a device or a pipe, expected a file")}
}

// Write writes a file that is whole or, on an error, as it was before. Until it is finished it
// stands next to its path under a name that begins with unfinished; what other writers that did
// not finish have left there under such names is removed, see Clean. It has the permissions of
// the file that it replaces, a new one those that os.Create gives. For what it does not replace
// see Into.
func Write(path, unfinished string, write func(io.Writer) error) (err error) {
	if err := replaceable(path); err != nil {
		return err // before anything is computed for it
	}
	Clean(filepath.Dir(path), unfinished)
	f, err := Create(path, unfinished)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = f.Close() // the first error tells more
			_ = os.Remove(f.Name())
		}
	}()
	if err = write(f); err != nil {
		return err
	}
	if err = errors.Join(f.Sync(), f.Close()); err != nil {
		return err
	}
	return Into([]File{{Temp: f.Name(), Path: path}}, -1)
}

// Create makes the temporary file of a path next to it, with the permissions that Write gives.
// Its name is unfinished and a random text.
func Create(path, unfinished string) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(filepath.Dir(path), unfinished+rand.Text()), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return nil, err
	}
	if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
		if err := f.Chmod(info.Mode().Perm()); err != nil {
			_ = f.Close() // the first error tells more
			_ = os.Remove(f.Name())
			return nil, err
		}
	}
	return f, nil
}

const asideEnd = ".old"

// toDisk writes the folders of files to the disk, as far as the system does that: renames are
// in order on file systems that do not.
func toDisk(files []File) {
	seen := map[string]bool{}
	for _, f := range files {
		dir := filepath.Dir(f.Path)
		if seen[dir] {
			continue
		}
		seen[dir] = true
		if d, err := os.Open(dir); err == nil {
			_ = d.Sync()
			_ = d.Close()
		}
	}
}

// LeftFor is how long an unfinished file lies before Clean takes it for one that its process
// has left, and not for one that is being written.
const LeftFor = time.Hour

// Clean removes the remains of killed processes in a folder: files and folders whose
// names are prefix and letters and digits that os.MkdirTemp, os.CreateTemp or rand.Text
// chose, and that nobody has written to for LeftFor.
func Clean(dir, prefix string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		rest, ok := strings.CutPrefix(e.Name(), prefix)
		rest = strings.TrimSuffix(rest, asideEnd)
		if !ok || rest == "" || strings.Trim(rest, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ") != "" {
			continue
		}
		if info, err := e.Info(); err == nil && (info.Mode().IsRegular() || info.IsDir()) && time.Since(info.ModTime()) > LeftFor {
			_ = os.RemoveAll(filepath.Join(dir, e.Name())) // it is in nobody's way
		}
	}
}
