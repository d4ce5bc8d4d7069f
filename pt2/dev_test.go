package pt2_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestDev(t *testing.T) {
	files, _ := filepath.Glob(os.Getenv("GOFX_PT2_DIR"))
	for _, path := range files {
		t.Run(filepath.Base(path), func(t *testing.T) { require.NoError(t, tryProgram(path)) })
	}
}

func TestDevONNX(t *testing.T) {
	files, _ := filepath.Glob(os.Getenv("GOFX_PT2_DIR"))
	for _, path := range files {
		t.Run(filepath.Base(path), func(t *testing.T) { require.NoError(t, tryONNX(path[:len(path)-5])) })
	}
}
