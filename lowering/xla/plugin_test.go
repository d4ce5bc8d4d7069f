//go:build (linux || darwin) && (amd64 || arm64) && !android

package xla_test

import (
	"encoding/binary"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/ebitengine/purego"
	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/internal/testkit/clib"
)

// fakes are variants of the plugin of package pjrt's tests, which adds, subtracts and returns what it
// was given: each is built once.
var fakes clib.Shared

func TestMain(m *testing.M) { os.Exit(fakes.Main(m)) }

type fake struct {
	path  string
	live  func(*[6]int64)
	hold  func(int64)
	fail  func(string, int64, string)
	text  func() string
	kept  func() string
	given func(device, arg int64, dims *int64, data *byte) int64
}

// built returns the path of a variant of the plugin.
func built(t testing.TB, flags []string) string {
	t.Helper()
	return fakes.Build(t, "fake"+strings.Join(flags, "")+".so", "pjrt/testdata/fake.c", append(flags, "-pthread")...)
}

// plugin builds the plugin. When the test ends, nothing of it may be alive.
func plugin(t testing.TB, flags ...string) *fake {
	t.Helper()
	f := &fake{path: built(t, flags)}
	lib, err := purego.Dlopen(f.path, purego.RTLD_NOW)
	require.NoError(t, err)
	purego.RegisterLibFunc(&f.live, lib, "FakeLive")
	purego.RegisterLibFunc(&f.hold, lib, "FakeHold")
	purego.RegisterLibFunc(&f.fail, lib, "FakeFail")
	purego.RegisterLibFunc(&f.text, lib, "FakeProgram")
	purego.RegisterLibFunc(&f.kept, lib, "FakeKept")
	purego.RegisterLibFunc(&f.given, lib, "FakeGiven")
	t.Cleanup(func() {
		f.hold(0)
		require.Eventually(t, func() bool { return f.alive() == [6]int64{} }, 10*time.Second, time.Millisecond, "alive")
	})
	return f
}

// alive counts errors, events, clients, buffers, loaded executables and executables.
func (f *fake) alive() (n [6]int64) {
	f.live(&n)
	return n
}

// argument returns what a device was given as an argument of f32 in the last run.
func (f *fake) argument(t testing.TB, device, arg int) (dims []int, data []float32) {
	t.Helper()
	var sizes [8]int64
	var raw [1024]byte
	rank := f.given(int64(device), int64(arg), &sizes[0], &raw[0])
	require.NotEqual(t, int64(-1), rank, "device %d has no argument %d", device, arg)
	n := 1
	dims = []int{}
	for _, d := range sizes[:rank] {
		dims, n = append(dims, int(d)), n*int(d)
	}
	for i := range n {
		data = append(data, math.Float32frombits(binary.NativeEndian.Uint32(raw[4*i:])))
	}
	return dims, data
}
