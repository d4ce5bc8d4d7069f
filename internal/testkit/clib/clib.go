// Package clib builds the shared libraries in C that tests load: drivers and plugins that stand for
// those of devices, and libraries for tests of calls. Without a compiler such tests are skipped.
package clib

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// Compiler is the name of a compiler.
type Compiler string

const (
	C   Compiler = "cc"
	CXX Compiler = "c++"
)

// machines are the first parts of the names that compilers have for what Go builds for.
var machines = map[string]string{"amd64": "x86_64", "arm64": "aarch64"}

// command returns the compiler for the machine that the test is built for, which under emulation is
// not the compiler's own, or why there is none.
func (c Compiler) command() (name, missing string) {
	if runtime.GOOS == "windows" {
		return "", "libraries for tests are built with the options of Unix compilers"
	}
	own, err := exec.Command(string(c), "-dumpmachine").Output()
	if err != nil {
		return "", "no compiler " + string(c) + " here to build a library for tests with"
	}
	machine := machines[runtime.GOARCH]
	if machine == "" || runtime.GOOS == "darwin" || strings.HasPrefix(string(own), machine) {
		return string(c), ""
	}
	cross := machine + "-linux-gnu-" + map[Compiler]string{C: "gcc", CXX: "g++"}[c]
	if _, err := exec.LookPath(cross); err != nil {
		return "", string(c) + " builds for " + strings.TrimSpace(string(own)) + ", and there is no " + cross + " here"
	}
	return cross, ""
}

// Path returns the file of the compiler for the machine that the test is built for.
func (c Compiler) Path() (string, error) {
	name, missing := c.command()
	if missing != "" {
		return "", errors.New(missing)
	}
	return exec.LookPath(name)
}

// Missing says why the compiler builds no libraries here, "" where it does.
func (c Compiler) Missing() string {
	_, missing := c.command()
	return missing
}

// Library builds a shared library of sources and options. The error has the compiler's message.
func (c Compiler) Library(out string, args ...string) error {
	name, err := c.Path()
	if err != nil {
		return err
	}
	said, err := exec.Command(name, append([]string{"-shared", "-fPIC", "-o", out}, args...)...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w\n%s", err, said)
	}
	return nil
}

// Build is Library for a test, which it skips where the compiler is missing.
func (c Compiler) Build(t testing.TB, out string, args ...string) {
	t.Helper()
	if why := c.Missing(); why != "" {
		t.Skip(why)
	}
	require.NoError(t, c.Library(out, args...))
}

// Text builds a library of a source in C, in a folder of the test, and returns its path.
func Text(t testing.TB, source string, args ...string) string {
	t.Helper()
	dir := t.TempDir()
	file, out := filepath.Join(dir, "lib.c"), filepath.Join(dir, "lib.so")
	require.NoError(t, os.WriteFile(file, []byte(source), 0o600))
	C.Build(t, out, append([]string{file}, args...)...)
	return out
}

// Shared are libraries that all tests of a package load, each built once.
type Shared struct {
	mu  sync.Mutex
	dir string
}

// Main runs the tests, and removes the libraries: TestMain calls it.
func (s *Shared) Main(m *testing.M) int {
	defer func() { os.RemoveAll(s.dir) }() // of no name does nothing
	return m.Run()
}

// Build returns the path of a library in C, which has this name and is built of one file if no test has
// done so. It skips the test where the compiler is missing.
func (s *Shared) Build(t testing.TB, name, source string, args ...string) string {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	var err error
	if s.dir == "" {
		s.dir, err = os.MkdirTemp("", "clib")
		require.NoError(t, err)
	}
	out := filepath.Join(s.dir, name)
	if _, err := os.Stat(out); err == nil {
		return out
	}
	C.Build(t, out, append([]string{source}, args...)...)
	return out
}
