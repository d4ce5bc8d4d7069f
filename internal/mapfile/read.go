package mapfile

import (
	"errors"
	"io"
	"os"
	"syscall"
)

// readAll reads a file to its end; one that says it has more than memory holds is refused
// by the system's error.
func readAll(f *os.File) (*Memory, error) {
	if info, err := f.Stat(); err == nil && info.IsDir() {
		return nil, &os.PathError{Op: "read", Path: f.Name(), Err: syscall.EISDIR}
	}
	b, err := io.ReadAll(f)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	return &Memory{b: b}, nil
}

// ReadPath is Read for the regular file at a path. Others are refused before they are
// opened: opening a pipe waits.
func ReadPath(path string) (*Memory, error) { return read(path, os.Stat, os.Open) }

// ReadIn is ReadPath for a file below a folder.
func ReadIn(root *os.Root, path string) (*Memory, error) { return read(path, root.Stat, root.Open) }

func read(path string, stat func(string) (os.FileInfo, error), open func(string) (*os.File, error)) (*Memory, error) {
	f, err := regular(path, stat, open)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return Read(f)
}

// Open is os.Open that refuses what ReadPath does.
func Open(path string) (*os.File, error) { return regular(path, os.Stat, os.Open) }

func regular(path string, stat func(string) (os.FileInfo, error), open func(string) (*os.File, error)) (*os.File, error) {
	info, err := stat(path)
	if err != nil {
		return nil, err
	}
	switch {
	case info.IsDir():
		return nil, &os.PathError{Op: "read", Path: path, Err: syscall.EISDIR}
	case !info.Mode().IsRegular():
		return nil, &os.PathError{Op: "read", Path: path, Err: errNoFile}
	}
	return open(path)
}

var errNoFile = errors.New("it is no regular file")
