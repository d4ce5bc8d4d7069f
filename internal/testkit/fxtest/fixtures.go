// Package fxtest holds the tools that tests of several rooms need: the
// reference outputs of networks and how closely values must agree with them.
package fxtest

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/array/npy"
	"github.com/gofx-dev/gofx/internal/testkit/repo"
	"github.com/gofx-dev/gofx/internal/testkit/zoo"
)

// Data returns the folder of reference data in this repository, one folder a
// network.
func Data(t testing.TB) string {
	t.Helper()
	root, err := repo.Root()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(root, "internal", "testkit", "fxtest", "testdata")
}

// IsNightly reports whether the slow tier is run.
func IsNightly() bool { return os.Getenv("GOFX_NIGHTLY") != "" }

// Nightly skips a test of the slow tier unless GOFX_NIGHTLY is set.
func Nightly(t testing.TB) {
	t.Helper()
	if !IsNightly() {
		t.Skip("set GOFX_NIGHTLY=1 to run the large networks")
	}
}

// arm64Libraries is where Debian's libc6-arm64-cross has the libraries with which
// programs that open others at run time are linked, even without cgo.
const arm64Libraries = "/usr/aarch64-linux-gnu"

// EmulatorOfArm64 returns the command that runs Linux programs of arm64, and why there is
// none where it is empty.
func EmulatorOfArm64(t testing.TB) (command, why string) {
	command, err := exec.LookPath("qemu-aarch64")
	if err != nil {
		return "", "qemu-aarch64 is not installed (Debian's qemu-user)"
	}
	if _, err := os.Stat(arm64Libraries); err != nil {
		return "", "libraries of arm64 are not installed (Debian's libc6-arm64-cross)"
	}
	t.Setenv("QEMU_LD_PREFIX", arm64Libraries)
	return command, ""
}

// Fixture is the reference of one network.
type Fixture struct {
	Model         string         `json:"model"`
	Seed          string         `json:"seed"`
	NumParameters int            `json:"num_parameters"`
	MACs          int            `json:"macs"`
	Nodes         map[string]int `json:"fx_nodes"` // nodes by opcode in PyTorch's graph, nil when it has none
	WeightsSHA256 string         `json:"weights_sha256"`
	Multipliers   [][2]any       `json:"multipliers"` // regular expression and factor
	Inputs        []InputRef     `json:"inputs"`
	Parameters    []ParameterRef `json:"parameters"` // in the order of the state dict
	Outputs       []OutputRef    `json:"outputs"`
	Stages        []Stage        `json:"stages"`
	Modules       [][3]string    `json:"modules"` // name, PyTorch's class and settings of the leaves

	dir string
}

// InputRef describes an input; Values is set for small ones, First for others.
type InputRef struct {
	Name   string    `json:"name"`
	DType  string    `json:"dtype"`
	Shape  []int     `json:"shape"`
	Values []float64 `json:"values"`
	First  []float64 `json:"first"`
}

// ParameterRef describes a parameter or buffer.
type ParameterRef struct {
	Name  string  `json:"name"`
	Shape []int   `json:"shape"`
	Rule  string  `json:"rule"`
	Value float64 `json:"value"` // of the rule constant
}

// OutputRef describes an output; Sample is the number of stored elements when
// not all are.
type OutputRef struct {
	Name      string    `json:"name"`
	Shape     []int     `json:"shape"`
	DType     string    `json:"dtype"`
	File      string    `json:"file"`
	Sample    int       `json:"sample"`
	Tolerance Tolerance `json:"tolerance"`
}

// Stage is the known data on the output of a module within the network.
type Stage struct {
	Module string  `json:"module"`
	Shape  []int   `json:"shape"`
	Mean   float64 `json:"mean"`
	Std    float64 `json:"std"`
	L2     float64 `json:"l2"`
}

// LoadFixture reads the reference of a network.
func LoadFixture(t testing.TB, model string) *Fixture {
	t.Helper()
	f := &Fixture{dir: filepath.Join(Data(t), model)}
	b, err := os.ReadFile(filepath.Join(f.dir, "manifest.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, f); err != nil {
		t.Fatalf("%s: %v", model, err)
	}
	return f
}

// SkipLarge skips a test of the slow tier when the network is large.
func (f *Fixture) SkipLarge(t testing.TB) {
	t.Helper()
	if !zoo.Small(f.NumParameters, f.MACs) {
		Nightly(t)
	}
}

// HasBatchNorms reports whether there are running statistics to fold.
func (f *Fixture) HasBatchNorms() bool {
	return slices.ContainsFunc(f.Parameters, func(p ParameterRef) bool { return p.Rule == "running_mean" })
}

// Expected reads the stored elements of an output: all of them, or a sample.
func (f *Fixture) Expected(t testing.TB, o OutputRef) *array.Array {
	t.Helper()
	a, err := npy.ReadFile(filepath.Join(f.dir, o.File))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// Check compares the outputs of a run, in the manifest's order, with the reference.
func (f *Fixture) Check(t testing.TB, got []*array.Array) {
	t.Helper()
	if len(got) != len(f.Outputs) {
		t.Fatalf("%s: %d outputs, expected %d", f.Model, len(got), len(f.Outputs))
	}
	for i, o := range f.Outputs {
		f.CheckOutput(t, o, got[i])
	}
}

// CheckOutput compares one output with the reference.
func (f *Fixture) CheckOutput(t testing.TB, o OutputRef, got *array.Array) {
	t.Helper()
	if !slices.Equal(got.Shape(), o.Shape) {
		t.Errorf("%s: output %s has the shape %v, expected %v", f.Model, o.Name, got.Shape(), o.Shape)
		return
	}
	want := f.Expected(t, o)
	d := Compare(o.Stored(got), want)
	if want.DType() == array.I64 && d.MaxAbs != 0 || !d.Within(o.Tolerance) {
		t.Errorf("%s: output %s is off: %s, allowed %s", f.Model, o.Name, d, o.Tolerance)
		return
	}
	t.Logf("%s: output %s: %s, allowed %s", f.Model, o.Name, d, o.Tolerance)
}

// Stored returns the elements of an output that are stored: all of them, or those of a sample
// of n at the flat indices floor(k*len/n).
func (o OutputRef) Stored(a *array.Array) *array.Array {
	n := o.Sample
	if n == 0 {
		return array.Contiguous(a)
	}
	out := array.New(a.DType(), n)
	for k := range n {
		array.SetFloat64At(out, k, array.Float64At(a, k*a.Len()/n))
	}
	return out
}
