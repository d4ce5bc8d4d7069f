//go:build !linux && !darwin

package mapfile

import "os"

// Read returns the contents of a file.
func Read(f *os.File) (*Memory, error) { return readAll(f) }

func unmap([]byte) error { return nil }
