package cli

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/gofx-dev/gofx/cmd/fxgen/internal/proc"
	"github.com/gofx-dev/gofx/cmd/fxgen/internal/stamp"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/internal/mapfile"
	"github.com/gofx-dev/gofx/internal/swap"
)

// target is a file to be written.
type target struct {
	path string
	data []byte
}

// stamped is a target that fxgen will know again.
func stamped(path string, data []byte) (target, error) {
	data, err := stamp.Add(path, data)
	return target{path, data}, err
}

// stale returns the files whose contents on disk differ; missing ones count.
func stale(list []target) []target {
	var out []target
	for _, t := range list {
		if old, ok := contents(t.path); !ok || !bytes.Equal(old, t.data) {
			out = append(out, t)
		}
	}
	return out
}

// contents reads a file; devices and pipes have none.
func contents(path string) ([]byte, bool) {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return nil, false
	}
	data, err := os.ReadFile(path)
	return data, err == nil
}

// writer puts results into files. It replaces only files that fxgen wrote,
// unless it is told to. It never replaces files that the command reads, or that those name, or
// hand-written files of the captured package.
type writer struct {
	ctx   context.Context
	force bool
	reads []string               // files that the command reads
	owns  func(path string) bool // whether a file is part of the captured package
	wrote []string               // files that hold results now
}

// put is a file whose place was found to be fit.
type put struct {
	target
	mode   fs.FileMode // of the file that is replaced, 0 when there is none
	direct bool        // a device or pipe
	tmp    string
}

// write writes the files that differ from those on disk. It writes all of them to
// temporary names in their folders first, then renames them, so that an error or a signal
// leaves the old ones. If several files of a model change, the first one that is its
// source or its graph is moved away before the others are written and comes last: a
// process that is killed in between leaves nothing that builds or loads.
func (w *writer) write(list []target) (err error) {
	puts, err := w.inspect(list)
	if err != nil {
		return err
	}
	main := mainOf(list)
	if puts, err = w.withMain(puts, main); err != nil {
		return err
	}
	var temporary []func()
	var made []string
	defer func() {
		for _, remove := range temporary {
			remove()
		}
		if err != nil {
			removeFolders(made)
		}
	}()
	for i := range puts {
		p := &puts[i]
		if p.direct {
			continue
		}
		folders, err := makeFolders(filepath.Dir(p.path))
		made = append(made, folders...)
		if err == nil {
			var remove func()
			if remove, err = p.save(); remove != nil {
				temporary = append(temporary, remove)
			}
		}
		if err != nil {
			return unwritable(p.path, err)
		}
	}
	if err := w.ctx.Err(); err != nil {
		return err
	}
	for i := range puts { // a pipe that nobody reads: a signal has to end that
		if p := &puts[i]; p.direct {
			if err := p.pour(); err != nil {
				return unwritable(p.path, err)
			}
		}
	}
	if err := proc.Commit(func() error { return commit(puts, main) }); err != nil {
		return err
	}
	for _, t := range list {
		w.wrote = append(w.wrote, t.path)
	}
	return nil
}

// sources are the file endings that determine the purpose of the files next to them.
var sources = []string{".go", ".onnx", ".pt2", ".fx"}

// mainOf is the path of the file without which the others are of no use, "" for none.
func mainOf(list []target) string {
	for _, t := range list {
		if slices.Contains(sources, filepath.Ext(t.path)) {
			return t.path
		}
	}
	return ""
}

// withMain adds the main file to several others that are written, even where it stays as it
// is.
func (w *writer) withMain(puts []put, main string) ([]put, error) {
	beside := 0
	for _, p := range puts {
		if p.path == main {
			return puts, nil
		}
		if !p.direct {
			beside++
		}
	}
	data, ok := contents(main)
	if beside < 2 || !ok {
		return puts, nil
	}
	p, err := w.fit(target{main, data})
	return append(puts, p), err
}

// commit renames the files that were saved in the same folders to their final names.
func commit(puts []put, main string) error {
	var files []swap.File
	at := -1
	for _, p := range puts {
		if p.direct {
			continue
		}
		if p.path == main {
			at = len(files)
		}
		files = append(files, swap.File{Temp: p.tmp, Path: p.path})
	}
	if len(files) == 0 {
		return nil
	}
	if err := swap.Into(files, at); err != nil {
		path := files[0].Path
		if l := (*os.LinkError)(nil); errors.As(err, &l) {
			path = l.New
		}
		return unwritable(path, err)
	}
	return nil
}

// save writes the temporary file, which remove removes. A new file has the permissions
// that the umask leaves of 0644, one in place of another has the other's.
func (p *put) save() (remove func(), err error) {
	swap.Clean(filepath.Dir(p.path), unfinished)
	p.tmp = filepath.Join(filepath.Dir(p.path), unfinished+rand.Text())
	f, remove, err := proc.Create(p.tmp)
	if err != nil {
		return nil, err
	}
	_, err = f.Write(p.data)
	if p.mode != 0 && err == nil {
		err = f.Chmod(p.mode)
	}
	if err == nil {
		err = f.Sync() // a name must not come to the disk before its contents
	}
	return remove, errors.Join(err, f.Close())
}

// unfinished begins the names of files that are being written; the remains of a killed
// process are removed by a later one.
const unfinished = ".fxgen-"

// pour writes to a device or pipe.
func (p *put) pour() error {
	f, err := os.OpenFile(p.path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.Write(p.data)
	return errors.Join(err, f.Close())
}

// inspect looks at all places before anything is written.
func (w *writer) inspect(list []target) (puts []put, err error) {
	var errs diag.List
	at := map[string]bool{}
	for _, t := range list {
		if path := absolute(t.path); at[path] {
			errs.Add(diag.New(codeNoWrite, "two results go to "+t.path).WithHint("give each a file of its own"))
			continue
		} else {
			at[path] = true
		}
		if len(stale([]target{t})) == 0 {
			continue
		}
		p, err := w.fit(t)
		errs.Add(err)
		puts = append(puts, p)
	}
	return puts, errs.Err()
}

// fit decides whether and how a file is written.
func (w *writer) fit(t target) (put, error) {
	p := put{target: t}
	link, err := os.Lstat(t.path)
	switch {
	case errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR):
		return p, folderFor(t.path)
	case err != nil:
		return p, unwritable(t.path, err)
	}
	info, err := os.Stat(t.path)
	isLink := link.Mode()&fs.ModeSymlink != 0
	switch {
	case err == nil && info.IsDir():
		return p, diag.New(codeNoWrite, t.path+" is a folder, expected a file").WithHint("name a file in it")
	case err == nil && !info.Mode().IsRegular():
		p.direct = true // renaming a file onto a device would remove the device
		return p, nil
	case isLink:
		to, _ := os.Readlink(t.path)
		return p, w.unforced(t.path+" is a symbolic link to "+to, "name the file itself, or replace the link, not the file, with -force")
	}
	p.mode = link.Mode().Perm()
	return p, w.replaceable(t.path, info)
}

// replaceable refuses to overwrite files that are not fxgen's.
func (w *writer) replaceable(path string, info fs.FileInfo) error {
	for _, r := range w.reads {
		if other, err := os.Stat(r); err == nil && os.SameFile(info, other) {
			return diag.New(codeKept, path+" is read by this command and is not replaced").WithHint("write to another file")
		}
		if names(r, path) {
			return diag.New(codeKept, path+" is named by "+r+", which this command reads, and is not replaced").WithHint("write to another file")
		}
	}
	old, ok := contents(path)
	if !ok {
		return diag.New(codeNoWrite, path+" cannot be read, so that nobody knows whose it is").WithHint("delete the file, or choose another place")
	}
	state := stamp.Of(path, old)
	switch {
	case state == stamp.Foreign && w.owns != nil && w.owns(path):
		return diag.New(codeKept, path+" is a file of the captured package that fxgen did not write; it is not replaced, not even with -force").
			WithHint("choose another -o, or delete the file")
	case state == stamp.Foreign:
		what := " exists and does not bear fxgen's mark: somebody else wrote it"
		switch {
		case filepath.Ext(path) == ".go":
			what = " exists and does not begin with the comment of generated code: somebody else wrote it"
		case !stamp.Marks(path):
			what = " exists, and files of its kind do not tell who wrote them"
		}
		return w.unforced(path+what, "choose another place, move the file away, or replace it with -force")
	case state == stamp.Edited:
		return w.unforced(path+" was changed since fxgen generated it", "move the changes elsewhere, or give them up with -force")
	case info.Mode().Perm()&0o222 == 0:
		return w.unforced(path+" is read-only", "make it writable, or replace it with -force")
	}
	return nil
}

// parted are the endings of files that may have a part of their tensors in other files.
var parted = []string{".onnx", ".json"}

// names reports whether the bytes of a file have the place of another one below its folder in them:
// so models name the files of their constants, and an index its shards.
func names(reads, path string) bool {
	if !slices.Contains(parted, filepath.Ext(reads)) {
		return false
	}
	place, err := filepath.Rel(filepath.Dir(absolute(reads)), absolute(path))
	if err != nil || !filepath.IsLocal(place) {
		return false
	}
	mem, err := mapfile.ReadPath(reads)
	if err != nil {
		return false // who reads it says why
	}
	defer mem.Close()
	return bytes.Contains(mem.Bytes(), []byte(filepath.ToSlash(place)))
}

func (w *writer) unforced(msg, hint string) error {
	if w.force {
		return nil
	}
	return diag.New(codeKept, msg).WithHint(hint)
}

// folderFor checks that the folder of a new file is one or can be made.
func folderFor(path string) error {
	if strings.HasSuffix(path, string(filepath.Separator)) || filepath.Base(path) == "." {
		return diag.New(codeNoWrite, path+" is a folder, expected a file").WithHint("name a file in it")
	}
	for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
		info, err := os.Stat(dir)
		switch {
		case err == nil && info.IsDir():
			return nil
		case err == nil:
			return diag.New(codeNoWrite, "cannot write "+path+": "+dir+" is a file, expected a folder").WithHint("choose another place")
		case dir == filepath.Dir(dir) || !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR):
			return unwritable(path, err)
		}
	}
}

// makeFolders is os.MkdirAll that reports the folders it made.
func makeFolders(dir string) (made []string, err error) {
	if _, err := os.Stat(dir); err == nil || dir == filepath.Dir(dir) {
		return nil, nil
	}
	made, err = makeFolders(filepath.Dir(dir))
	if err != nil {
		return made, err
	}
	if err := os.Mkdir(dir, 0o777); err != nil {
		if errors.Is(err, fs.ErrExist) {
			return made, nil
		}
		return made, err
	}
	return append(made, dir), nil
}

// removeFolders removes folders that were made in vain, the innermost first.
func removeFolders(made []string) {
	for i := len(made) - 1; i >= 0; i-- {
		os.Remove(made[i])
	}
}

// unwritable says in plain words why a file cannot be written.
func unwritable(path string, err error) error {
	var p *fs.PathError
	var l *os.LinkError
	switch {
	case errors.As(err, &p):
		err = p.Err
	case errors.As(err, &l):
		err = l.Err
	}
	return diag.New(codeNoWrite, fmt.Sprintf("cannot write %s: %v", path, err)).WithHint("check the permissions and the space of the folder, or choose another place")
}
