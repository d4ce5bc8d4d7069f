package cudatest

import (
	"bytes"
	"embed"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"unsafe"

	"github.com/gofx-dev/gofx/internal/dynlib"
	"github.com/gofx-dev/gofx/internal/testkit/clib"
	"github.com/gofx-dev/gofx/lowering/gpu/internal/cuda"
)

//go:embed testdata
var sources embed.FS

// built holds the libraries, which are compiled once in a process.
type built struct {
	driver, nvrtc []byte
	blas, dnn     []byte
	header        []byte
	cxx           string
	skip          string // why there are none
	err           error
}

var build = sync.OnceValue(func() *built {
	b := &built{}
	if b.skip = clib.C.Missing(); runtime.GOOS != "linux" {
		b.skip = "the CUDA driver for tests is for linux"
	}
	if b.skip != "" {
		return b
	}
	var err error
	if b.cxx, err = clib.CXX.Path(); err != nil {
		b.skip = err.Error()
		return b
	}
	dir, err := os.MkdirTemp("", "cudatest")
	if err != nil {
		b.err = err
		return b
	}
	defer os.RemoveAll(dir)
	if b.err = os.CopyFS(dir, sources); b.err != nil {
		return b
	}
	dir = filepath.Join(dir, "testdata")
	b.driver = b.compile(dir, "cuda.c", "state.c", "streams.c")
	b.nvrtc = b.compile(dir, "nvrtc.c")
	b.blas = b.compile(dir, "blas.c")
	b.dnn = b.compile(dir, "dnn.c")
	b.header, err = os.ReadFile(filepath.Join(dir, "host.h"))
	if b.err == nil {
		b.err = err
	}
	return b
})

// compile returns the shared library of C files.
func (b *built) compile(dir string, files ...string) []byte {
	out := filepath.Join(dir, files[0]+".so")
	args := []string{"-O1", "-Wall"}
	for _, f := range files {
		args = append(args, filepath.Join(dir, f))
	}
	err := clib.C.Library(out, append(args, "-ldl", "-lpthread")...)
	if err != nil {
		b.err = err
		return nil
	}
	lib, err := os.ReadFile(out)
	if err != nil {
		b.err = err
	}
	return lib
}

// Kinds of things that the driver counts.
const (
	Memory = iota
	Pinned
	Modules
	Streams
	Events
	Graphs
	Execs
	Contexts
	kinds
)

// Driver is a driver of a test's own, with its NVRTC.
type Driver struct {
	t           testing.TB
	Path, NVRTC string // of the libraries
	lib, nvrtc  *dynlib.Library

	// BLAS and DNN are where a cuBLASLt and a cuDNN lie once UseLibraries was called.
	BLAS, DNN string
	blas, dnn *dynlib.Library
}

// New builds a driver, or skips the test. When the test ends, it fails if something that
// was made of the driver is alive, or if the driver was used wrongly.
func New(t testing.TB) *Driver {
	t.Helper()
	b := build()
	if b.skip != "" {
		t.Skip(b.skip)
	}
	if b.err != nil {
		t.Fatal(b.err)
	}
	dir := t.TempDir()
	d := &Driver{t: t, Path: filepath.Join(dir, "libcuda.so"), NVRTC: filepath.Join(dir, "libnvrtc.so"), BLAS: filepath.Join(dir, "libcublasLt.so"), DNN: filepath.Join(dir, "libcudnn.so")}
	for path, data := range map[string][]byte{d.Path: b.driver, d.NVRTC: b.nvrtc, filepath.Join(dir, "host.h"): b.header} {
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	d.lib, d.nvrtc = d.load(d.Path), d.load(d.NVRTC)
	dynlib.Call(d.nvrtc.Lookup("fake_configure"), text(b.cxx), text(dir))
	t.Cleanup(d.check)
	return d
}

// UseLibraries gives devices that are opened afterwards a cuBLASLt and a cuDNN of the test's own.
func (d *Driver) UseLibraries() {
	d.t.Helper()
	for _, l := range []struct {
		name, path string
		data       []byte
		at         **dynlib.Library
	}{{"blas", d.BLAS, build().blas, &d.blas}, {"dnn", d.DNN, build().dnn, &d.dnn}} {
		if err := os.WriteFile(l.path, l.data, 0o600); err != nil {
			d.t.Fatal(err)
		}
		lib := d.load(l.path)
		*l.at = lib
		dynlib.Call(lib.Lookup("fake_"+l.name+"_configure"), d.lib.Lookup("fake_add"), d.lib.Lookup("fake_lock"))
		d.t.Cleanup(func() {
			if n := int(int32(dynlib.Call(lib.Lookup("fake_" + l.name + "_live")))); n != 0 {
				d.t.Errorf("%d things of library %s are alive", n, l.name)
			}
		})
	}
}

// Products returns how many products the cuBLASLt computed, or recorded.
func (d *Driver) Products() int { return int(int32(dynlib.Call(d.blas.Lookup("fake_blas_calls")))) }

// Convolutions is Products of the cuDNN.
func (d *Driver) Convolutions() int { return int(int32(dynlib.Call(d.dnn.Lookup("fake_dnn_calls")))) }

// RefuseAll makes the libraries take nothing.
func (d *Driver) RefuseAll() {
	dynlib.Call(d.blas.Lookup("fake_blas_refuse"), 1)
	dynlib.Call(d.dnn.Lookup("fake_dnn_refuse"), 1)
}

func (d *Driver) load(path string) *dynlib.Library {
	d.t.Helper()
	lib, err := dynlib.Open(path)
	if err != nil {
		d.t.Fatal(err)
	}
	return lib
}

// text returns the address of a C string that stays for the life of the process.
func text(s string) uintptr {
	b := append([]byte(s), 0)
	texts.Lock()
	defer texts.Unlock()
	texts.list = append(texts.list, b)
	return uintptr(unsafe.Pointer(&b[0]))
}

var texts struct {
	sync.Mutex
	list [][]byte
}

// Device opens the driver's first device, which is closed when the test ends.
func (d *Driver) Device() *cuda.Device {
	d.t.Helper()
	all, err := cuda.DevicesOf([]string{d.Path}, []string{d.NVRTC}, []string{d.BLAS}, []string{d.DNN})
	if err != nil {
		d.t.Fatal(err)
	}
	dev := all[0].(*cuda.Device)
	d.t.Cleanup(func() {
		if err := dev.Close(); err != nil {
			d.t.Error(err)
		}
	})
	return dev
}

// check fails the test for what is alive and for wrong uses.
func (d *Driver) check() {
	for kind := range kinds {
		if n := d.Alive(kind); n != 0 {
			d.t.Errorf("%d things of kind %d are alive", n, kind)
		}
	}
	if n := int(int32(dynlib.Call(d.nvrtc.Lookup("fake_nvrtc_live")))); n != 0 {
		d.t.Errorf("%d programs of NVRTC are alive", n)
	}
	if d.Get("faults") != 0 {
		var b [200]byte
		dynlib.Call(d.lib.Lookup("fake_fault_text"), uintptr(unsafe.Pointer(&b[0])))
		d.t.Errorf("%d wrong uses of the driver, the first: %s", d.Get("faults"), bytes.TrimRight(b[:], "\x00"))
	}
}

// Alive returns how many things of a kind are alive.
func (d *Driver) Alive(kind int) int {
	return int(dynlib.Call(d.lib.Lookup("fake_count"), uintptr(kind)))
}

// Calls returns how often a function of the driver was called.
func (d *Driver) Calls(function string) int {
	return int(dynlib.Call(d.lib.Lookup("fake_calls"), text(function)))
}

// Compiled returns how many programs NVRTC compiled.
func (d *Driver) Compiled() int {
	return int(int32(dynlib.Call(d.nvrtc.Lookup("fake_nvrtc_compiled"))))
}

// Get returns a number of the driver: "memory" and "used" are bytes of the device,
// "lost" is 1 once it is lost, "faults" counts wrong uses.
func (d *Driver) Get(name string) int {
	return int(dynlib.Call(d.lib.Lookup("fake_get"), text(name)))
}

// Set sets a number: "memory", "devices", "init" (what cuInit returns), "refuse ptx" (1
// for a driver that is older than NVRTC), "lose in" (after so many calls the device is
// lost), "lose code" (and they return this status), "slow" (microseconds that pass between
// the call for a stream's end and the driver).
func (d *Driver) Set(name string, v int) {
	dynlib.Call(d.lib.Lookup("fake_set"), text(name), uintptr(v))
}
