//go:build (linux || darwin) && (amd64 || arm64) && !android

package pjrt_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/ebitengine/purego"
	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/lowering/xla/pjrt"
)

// fake is the plugin of testdata and its controls.
type fake struct {
	*pjrt.Plugin
	live      func(*[6]int64)
	hold      func(int64)
	fail      func(string, int64, string)
	failEvent func(string)
	program   func() string
	options   func(*int64) *byte
	kept      func() string
}

var built struct {
	sync.Mutex
	dir string
}

func TestMain(m *testing.M) {
	code := m.Run()
	if built.dir != "" {
		os.RemoveAll(built.dir)
	}
	os.Exit(code)
}

// build compiles a variant of the plugin and returns its path.
func build(t testing.TB, name string, flags ...string) string {
	t.Helper()
	cc, err := exec.LookPath("cc")
	if err != nil {
		t.Skip("no C compiler")
	}
	built.Lock()
	defer built.Unlock()
	if built.dir == "" {
		built.dir, err = os.MkdirTemp("", "pjrt")
		require.NoError(t, err)
	}
	path := filepath.Join(built.dir, name)
	if _, err := os.Stat(path); err == nil {
		return path
	}
	source, err := filepath.Abs("testdata/fake.c")
	require.NoError(t, err)
	out, err := exec.Command(cc, append(flags, "-shared", "-fPIC", "-pthread", "-o", path, source)...).CombinedOutput()
	require.NoError(t, err, "%s", out)
	return path
}

// load builds and loads the plugin. When the test ends, nothing of it may be alive.
func load(t testing.TB) *fake {
	t.Helper()
	path := build(t, "pjrt_c_api_fake_plugin.so")
	p, err := pjrt.Load(path)
	require.NoError(t, err)
	lib, err := purego.Dlopen(path, purego.RTLD_NOW)
	require.NoError(t, err)
	f := &fake{Plugin: p}
	for name, fn := range map[string]any{"FakeLive": &f.live, "FakeHold": &f.hold, "FakeFail": &f.fail, "FakeFailEvent": &f.failEvent,
		"FakeProgram": &f.program, "FakeOptions": &f.options, "FakeKept": &f.kept} {
		purego.RegisterLibFunc(fn, lib, name)
	}
	t.Cleanup(func() {
		f.hold(0)
		f.settle(t)
	})
	return f
}

// alive counts errors, events, clients, buffers, loaded executables and executables.
func (f *fake) alive() (n [6]int64) {
	f.live(&n)
	return n
}

// settle waits until nothing of the plugin is alive: events end in threads of their own.
func (f *fake) settle(t testing.TB) {
	t.Helper()
	require.Eventually(t, func() bool { return f.alive() == [6]int64{} }, 10*time.Second, time.Millisecond,
		"errors, events, clients, buffers, loaded executables, executables: %v", f.alive())
}

func (f *fake) client(t testing.TB, options ...pjrt.NamedValue) *pjrt.Client {
	t.Helper()
	c, err := f.NewClient(options...)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, c.Close()) })
	return c
}

// module is a program that the fake compiler takes: what it does and its results' types.
func module(kind string, results ...string) string {
	s := "module @m {\n  func.func public @main() -> ("
	for i, r := range results {
		if i > 0 {
			s += ", "
		}
		s += "tensor<" + r + ">"
	}
	return s + ") { // " + kind + " " + strconv.Itoa(len(results)) + "\n  }\n}\n"
}
