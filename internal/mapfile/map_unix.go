//go:build linux || darwin

package mapfile

import (
	"os"
	"syscall"
)

// Read returns the contents of a regular file, mapped, and those of any other file read.
func Read(f *os.File) (*Memory, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	size := info.Size()
	if !info.Mode().IsRegular() || size == 0 || size != int64(int(size)) {
		return readAll(f)
	}
	b, err := syscall.Mmap(int(f.Fd()), 0, int(size), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE|mapFlags)
	if err != nil {
		return readAll(f) // file systems without it
	}
	return &Memory{b: b, mapped: true}, nil
}

func unmap(b []byte) error { return syscall.Munmap(b) }
