// Package xlajax compiles and runs StableHLO programs with XLA itself, for tests that hold
// package lowering/xla to it: a process of Python with jaxlib, whose client for the CPU has XLA's
// compiler. One process serves all tests of a package and ends with them; programs are sent to it
// many at a time.
package xlajax

import (
	"bufio"
	_ "embed" // serve.py
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/internal/testkit/pyenv"
)

//go:embed serve.py
var serve string

// Runtime is a process that compiles and runs programs.
type Runtime struct {
	mu   sync.Mutex
	in   *bufio.Writer
	out  *bufio.Reader
	dead bool
}

var shared struct {
	sync.Mutex
	*Runtime
}

// Start returns the process, and starts it where there is none. It skips the test where Python or jaxlib is missing.
func Start(t testing.TB) *Runtime {
	t.Helper()
	shared.Lock()
	defer shared.Unlock()
	if shared.Runtime != nil && shared.Alive() {
		return shared.Runtime
	}
	python := pyenv.Need(t, "jax", "jaxlib", "ml_dtypes", "numpy")
	cmd := exec.Command(python, "-c", serve)
	cmd.Env = append(os.Environ(), "TF_CPP_MIN_LOG_LEVEL=2", "JAX_PLATFORMS=cpu")
	r, err := start(cmd)
	if err != nil {
		t.Fatal(err)
	}
	shared.Runtime = r
	return r
}

// Alive reports whether the process has answered so far.
func (r *Runtime) Alive() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return !r.dead
}

// start starts the process, which ends when its input does: with this one.
func start(cmd *exec.Cmd) (*Runtime, error) {
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return &Runtime{in: bufio.NewWriterSize(in, 1<<20), out: bufio.NewReaderSize(out, 1<<20)}, nil
}

// Job is the text of a program, and its runs: for each run the arguments of main. Without
// runs it is only compiled.
type Job struct {
	Text string
	Runs [][]*array.Array
}

// Outcome is the results of each run of a program, and which arguments it has taken the memory of, or XLA's
// error, a Refusal.
type Outcome struct {
	Runs  [][]*array.Array
	Taken [][]int
	Err   error
}

// Refusal is XLA's reason not to compile a program, or not to run it.
type Refusal string

func (r Refusal) Error() string { return "XLA: " + string(r) }

// tensor describes elements that follow as bytes.
type tensor struct {
	DType string `json:"dtype"`
	Dims  []int  `json:"dims"`
}

// said is a program on its way to the process, or the answer about it.
type said struct {
	Text  string     `json:"text,omitempty"`
	Runs  [][]tensor `json:"runs"`
	Taken [][]int    `json:"taken,omitempty"`
	Error string     `json:"error,omitempty"`
}

type message struct {
	Programs []said `json:"programs"`
}

// Run compiles programs and runs them. An error is the process's; those of programs are in the outcomes.
func (r *Runtime) Run(programs ...Job) (out []Outcome, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	m, data, err := asked(programs)
	if err != nil {
		return nil, err
	}
	defer func() { r.dead = err != nil }()
	if err := json.NewEncoder(r.in).Encode(m); err != nil {
		return nil, err
	}
	for _, a := range data {
		if _, err := r.in.Write(array.Bytes(array.Contiguous(a))); err != nil {
			return nil, err
		}
	}
	if err := r.in.Flush(); err != nil {
		return nil, err
	}
	return r.answers(len(programs))
}

// asked is the request about programs, and the arrays that follow it.
func asked(programs []Job) (m message, data []*array.Array, err error) {
	for k, p := range programs {
		runs := [][]tensor{}
		for _, args := range p.Runs {
			list := []tensor{}
			for i, a := range args {
				name := typeNames[a.DType()]
				if name == "" {
					return m, nil, fmt.Errorf("xlajax: program %d: argument %d is of type %s, which programs do not have", k, i, a.DType())
				}
				list, data = append(list, tensor{name, append([]int{}, a.Shape()...)}), append(data, a)
			}
			runs = append(runs, list)
		}
		m.Programs = append(m.Programs, said{Text: p.Text, Runs: runs})
	}
	return m, data, nil
}

// answers reads the outcomes of n programs.
func (r *Runtime) answers(n int) ([]Outcome, error) {
	line, err := r.out.ReadBytes('\n')
	if err != nil {
		return nil, fmt.Errorf("xlajax: no answer: %w", err)
	}
	var m message
	if err := json.Unmarshal(line, &m); err != nil {
		return nil, err
	}
	if len(m.Programs) != n {
		return nil, fmt.Errorf("xlajax: %d answers to %d programs", len(m.Programs), n)
	}
	var list []Outcome
	for _, p := range m.Programs {
		o := Outcome{Taken: p.Taken}
		if p.Error != "" {
			o.Err = Refusal(strings.TrimSpace(p.Error))
		}
		for _, results := range p.Runs {
			run := []*array.Array{}
			for _, t := range results {
				a, err := t.read(r.out)
				if err != nil {
					return nil, err
				}
				run = append(run, a)
			}
			o.Runs = append(o.Runs, run)
		}
		list = append(list, o)
	}
	return list, nil
}

func (t tensor) read(r io.Reader) (*array.Array, error) {
	for d, name := range typeNames {
		if name == t.DType {
			a := array.New(d, t.Dims...)
			_, err := io.ReadFull(r, array.Bytes(a))
			return a, err
		}
	}
	return nil, errors.New("xlajax: a result has elements of type " + t.DType)
}

// typeNames are NumPy's names of the element types that programs have.
var typeNames = map[array.DType]string{array.F32: "float32", array.F64: "float64", array.F16: "float16", array.BF16: "bfloat16",
	array.I8: "int8", array.I16: "int16", array.I32: "int32", array.I64: "int64",
	array.U8: "uint8", array.U16: "uint16", array.U32: "uint32", array.U64: "uint64", array.Bool: "bool"}
