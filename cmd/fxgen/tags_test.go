package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// A package without files for this machine says which constraints leave out which of them.
func TestBuildTagsAreNamed(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":             "module example.com/m\n\ngo 1.26.0\n",
		"net/cuda.go":        "// Package net is for a card.\n\n//go:build cuda && !cpu\n\npackage net\n\nfunc Net() {}\n",
		"net/net_plan9.go":   "package net\n\nfunc Other() {}\n",
		"half/half.go":       "package half\n\nfunc Other() {}\n",
		"half/half_extra.go": "//go:build extra\n\npackage half\n\nfunc Net() {}\n",
	} {
		path := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o777))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o666))
	}
	t.Chdir(dir)
	code, _, stderr := call("print", "./net#Net")
	require.Equal(t, 1, code)
	require.Contains(t, stderr, "left out are cuda.go by //go:build cuda && !cpu, net_plan9.go by its name [FX8076]")
	require.Contains(t, stderr, "GOFLAGS=-tags=NAME")
	_, _, stderr = call("print", "./half#Net")
	require.Contains(t, stderr, "left out here: half_extra.go by //go:build extra")
	require.Contains(t, stderr, "[FX8077]")
	t.Setenv("GOFLAGS", "-tags=extra,cuda")
	_, _, stderr = call("print", "./half#Net")
	require.Contains(t, stderr, "[FX8078]", "it is built, and takes no tensors")
	_, _, stderr = call("print", "./net#Net")
	require.Contains(t, stderr, "[FX8078]")
}
