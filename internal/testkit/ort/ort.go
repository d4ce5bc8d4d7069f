// Package ort runs models in ONNX Runtime, for tests that compare with it: a process of
// Node.js with npm's onnxruntime-node, which bench/peers/install.sh installs. It does not
// measure time; bench/peers does, with a program of its own.
package ort

import (
	"bufio"
	_ "embed" // serve.js
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/internal/testkit/repo"
)

//go:embed serve.js
var serve []byte

// Runtime is a process that runs models. It is for one goroutine.
type Runtime struct {
	in  *json.Encoder
	out *bufio.Reader
}

// Start starts ONNX Runtime until the test ends, or skips the test where it is missing.
func Start(t testing.TB) *Runtime {
	t.Helper()
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("ONNX Runtime runs in Node.js, which is not installed")
	}
	root, err := repo.Root()
	if err != nil {
		t.Fatal(err)
	}
	place := filepath.Join(root, "bench", "peers", "node_modules", "onnxruntime-node")
	if _, err := os.Stat(place); err != nil {
		t.Skip("ONNX Runtime is not installed: bench/peers/install.sh does that")
	}
	script := filepath.Join(t.TempDir(), "serve.js")
	if err := os.WriteFile(script, serve, 0o600); err != nil {
		t.Fatal(err)
	}
	r, stop, err := start(exec.Command(node, script, place))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	return r
}

func start(cmd *exec.Cmd) (*Runtime, func(), error) {
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, nil, err
	}
	stop := func() { _, _ = in.Close(), cmd.Wait() }
	return &Runtime{json.NewEncoder(in), bufio.NewReaderSize(out, 1<<20)}, stop, nil
}

// Model is the model to run: a file, for models that have data next to them, or the
// bytes of one. Plain leaves out every optimisation, since some give other results.
type Model struct {
	Path  string
	Data  []byte
	Plain bool
}

// Inputs are values by the names of the model's inputs.
type Inputs = map[string]*array.Array

// Refusal is ONNX Runtime's reason not to load or run a model. Other errors are of the
// process.
type Refusal string

func (r Refusal) Error() string { return "ONNX Runtime: " + string(r) }

// request and tensor are sent to the process; tensor comes back, too.
type request struct {
	Path  string              `json:"path,omitempty"`
	Model []byte              `json:"model,omitempty"`
	Level string              `json:"level"`
	Runs  []map[string]tensor `json:"runs"`
}

type tensor struct {
	DType string `json:"dtype"`
	Dims  []int  `json:"dims"`
	Data  []byte `json:"data"`
}

// Run runs a model on each of several inputs and returns the outputs of each, in the
// model's order.
func (r *Runtime) Run(m Model, runs ...Inputs) ([][]*array.Array, error) {
	q := request{Path: m.Path, Model: m.Data, Level: "all", Runs: []map[string]tensor{}}
	if m.Plain {
		q.Level = "disabled"
	}
	for _, inputs := range runs {
		feeds := map[string]tensor{}
		for name, a := range inputs {
			if TypeName(a.DType()) == "" {
				return nil, fmt.Errorf("ort: input %q: element type %s does not reach ONNX Runtime", name, a.DType())
			}
			feeds[name] = tensor{TypeName(a.DType()), append([]int{}, a.Shape()...), append([]byte{}, array.Bytes(array.Contiguous(a))...)} // no null for none
		}
		q.Runs = append(q.Runs, feeds)
	}
	if err := r.in.Encode(q); err != nil {
		return nil, err
	}
	line, err := r.out.ReadBytes('\n')
	if err != nil {
		return nil, fmt.Errorf("ort: no answer: %w", err)
	}
	var reply struct {
		Runs  [][]tensor `json:"runs"`
		Error string     `json:"error"`
	}
	if err := json.Unmarshal(line, &reply); err != nil {
		return nil, err
	}
	if reply.Error != "" {
		return nil, Refusal(reply.Error)
	}
	results := make([][]*array.Array, len(reply.Runs))
	for k, list := range reply.Runs {
		for _, t := range list {
			a, err := t.array()
			if err != nil {
				return nil, err
			}
			results[k] = append(results[k], a)
		}
	}
	return results, nil
}

func (t tensor) array() (*array.Array, error) {
	d, ok := ParseType(t.DType)
	if !ok {
		return nil, Refusal("gives elements of type " + t.DType)
	}
	a := array.New(d, t.Dims...)
	if got, want := copy(array.Bytes(a), t.Data), len(array.Bytes(a)); got != want || len(t.Data) != want {
		return nil, fmt.Errorf("ort: %d bytes of data for %s", len(t.Data), array.Describe(d, t.Dims))
	}
	return a, nil
}

var typeNames = map[array.DType]string{array.F32: "float32", array.F64: "float64", array.F16: "float16", array.Bool: "bool",
	array.I8: "int8", array.U8: "uint8", array.I16: "int16", array.U16: "uint16", array.I32: "int32", array.U32: "uint32",
	array.I64: "int64", array.U64: "uint64"}

// TypeName returns ONNX Runtime's name of an element type, "" where its interface for
// Node.js has no such tensors.
func TypeName(d array.DType) string { return typeNames[d] }

// ParseType is the other way round.
func ParseType(name string) (array.DType, bool) {
	for d, n := range typeNames {
		if n == name {
			return d, true
		}
	}
	return array.Invalid, false
}
