// Package exchange is what processes of fxgen say to each other through files of a folder: the
// command, a test binary of the user's package ([work] does its jobs), and a program around
// generated code (package drive). The last is linked for each network. It imports this package and
// none that captures, prints or plans, and links in a third of the time.
//
// Read Result, Request and Send first.
//
// [work]: github.com/gofx-dev/gofx/cmd/fxgen/internal/work
package exchange

import (
	"bytes"
	"fmt"
	"runtime"
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/array/safetensors"
	"github.com/gofx-dev/gofx/cmd/fxgen/internal/dump"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/tracer"
)

// File is one result that is to become a file.
type File struct {
	Name string
	Data []byte `json:"-"`
}

// Result is the result of a job. Files go to disk, or travel separately in the
// exchange with a test binary.
type Result struct {
	Text  string
	Files []File
	Notes diag.List `json:"-"`
	// InputNames and OutputNames are those of the captured graph.
	InputNames, OutputNames []string
	PeakBytes               int64
	// Culprit is the rewrite that bisect has found.
	Culprit Culprit
	Outputs []*array.Array `json:"-"` // of the verb Verify
	StandIn string         `json:"-"` // of it: the operators that do not run on the engine's device, and why
	// InputTypes and Shapes describe the inputs of the verb Feed.
	InputTypes []string
	Shapes     [][]int
}

// Culprit is a rewrite of a pipeline, and the entries of the job's pipeline up to its pass.
type Culprit struct {
	Pass  string
	Match int
	Until []string
}

// InputFile and OutputFile name the values of a built program.
func InputFile(i int) string { return "in" + strconv.Itoa(i) + ".value" }

// OutputFile names an output of a built program.
func OutputFile(i int) string { return "out" + strconv.Itoa(i) + ".value" }

// valueName is the one tensor of an encoded array.
const valueName = "value"

// Encode writes an array for another process of fxgen. The format has all element
// types, which .npy has not.
func Encode(a *array.Array) ([]byte, error) {
	var b bytes.Buffer
	err := safetensors.Write(&b, []safetensors.Named{{Name: valueName, Array: a}}, nil)
	return b.Bytes(), err
}

// Decode reads the output of Encode, and shares its memory.
func Decode(b []byte) (*array.Array, error) {
	f, err := safetensors.Parse(b)
	if err != nil {
		return nil, err
	}
	return f.Get(valueName)
}

// Recover calls f and makes an error of a panic in the model's code.
func Recover(f func() error) (err error) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case *diag.Error:
			err = r.At(codePos())
		default:
			err = diag.New(tracer.UserPanic, fmt.Sprint("the model panicked: ", r)).At(codePos())
		}
	}()
	return f()
}

// codePos returns the model's line that a deferred function is run for.
func codePos() diag.Pos {
	stack := make([]byte, 1<<16)
	return dump.Running(string(stack[:runtime.Stack(stack, false)]), HarnessFile, NamesFile)
}

// HarnessFile is the file of the test that does a job in a test binary of the user's
// package, NamesFile the one by which the package shows it the captured object.
const (
	HarnessFile = "zz_fxgen_harness_test.go"
	NamesFile   = "zz_fxgen_names_test.go"
)
