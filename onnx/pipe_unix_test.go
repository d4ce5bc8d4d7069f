//go:build unix

package onnx

import (
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// makePipe makes a named pipe: who opens it waits for a writer that never comes.
func makePipe(t testing.TB, path string) { require.NoError(t, syscall.Mkfifo(path, 0o644)) }
