//go:build !linux && !darwin

package mapfile

import "os"

// Read returns the contents of a file.
func Read(f *os.File) ([]byte, error) { return readAll(f) }
