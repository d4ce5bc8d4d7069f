//go:build (linux || darwin) && (amd64 || arm64) && !android

package pjrt_test

import (
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/ebitengine/purego"
	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/internal/testkit/clib"
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

var built clib.Shared

func TestMain(m *testing.M) { os.Exit(built.Main(m)) }

// build compiles a variant of the plugin and returns its path.
func build(t testing.TB, name string, flags ...string) string {
	t.Helper()
	return built.Build(t, name, "testdata/fake.c", append(flags, "-pthread")...)
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
