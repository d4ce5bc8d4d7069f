// Package drive is the part of fxgen in a program around generated code, which fxgen writes,
// builds and runs for the engines module and gen. It is of no use elsewhere.
package drive

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/cmd/fxgen/internal/exchange"
	"github.com/gofx-dev/gofx/codegen/certificate"
	"github.com/gofx-dev/gofx/tensor"
)

// Driver runs generated code as the job in a folder says, and leaves the results there.
type Driver struct {
	dir     string
	job     job
	results []any
	err     error
}

// job is the part of a job that matters to generated code.
type job struct {
	Verb    string
	Threads int
	Repeat  int
	MinTime int64 // nanoseconds
}

// NewDriver reads the job in the folder that is the program's argument.
func NewDriver() *Driver {
	if len(os.Args) != 2 {
		return &Driver{err: fmt.Errorf("got %d arguments, expected the folder of the job", len(os.Args)-1)}
	}
	d := &Driver{dir: os.Args[1]}
	if d.err = exchange.Requested(d.dir, &d.job); d.err == nil && d.job.Threads > 0 {
		runtime.GOMAXPROCS(d.job.Threads)
	}
	return d
}

// Part calls the function of the part that the job is for: the last name of its folder.
func (d *Driver) Part(parts map[string]func(*Driver)) {
	d.Check(nil)
	run := parts[filepath.Base(d.dir)]
	if run == nil {
		d.Check(fmt.Errorf("there is no part %s", d.dir))
	}
	run(d)
}

// Array returns input i.
func (d *Driver) Array(i int) *array.Array {
	if d.err != nil {
		return nil
	}
	b, err := os.ReadFile(filepath.Join(d.dir, exchange.InputFile(i)))
	if err != nil {
		d.err = err
		return nil
	}
	a, err := exchange.Decode(b)
	if err != nil {
		d.err = err
	}
	return a
}

// Tensor returns input i as a tensor.
func (d *Driver) Tensor(i int) *tensor.Tensor {
	a := d.Array(i)
	if a == nil {
		return nil
	}
	return tensor.New(a)
}

// Open opens a file of the generated package that is read when it runs.
func (d *Driver) Open(name string) (f *os.File, size int64) {
	if d.err != nil {
		return nil, 0
	}
	f, err := os.Open(filepath.Join(d.dir, name))
	if err != nil {
		d.err = err
		return nil, 0
	}
	info, err := f.Stat()
	if err != nil {
		d.err = err
		return nil, 0
	}
	return f, info.Size()
}

// Check ends the program when the model could not be made.
func (d *Driver) Check(err error) {
	if d.err == nil {
		d.err = err
	}
	if d.err != nil {
		d.finish(nil)
	}
}

// Keep takes the results of a call of the generated code; the last one may be
// an error.
func (d *Driver) Keep(results ...any) error {
	d.results = results
	if n := len(results); n > 0 {
		if err, ok := results[n-1].(error); ok {
			return err
		}
	}
	return nil
}

// Run does the job with the function that calls the generated code.
func (d *Driver) Run(call func() error) {
	d.Check(nil)
	var res *exchange.Result
	d.err = exchange.Recover(func() (err error) {
		res, err = d.do(call)
		return err
	})
	d.finish(res)
}

func (d *Driver) do(call func() error) (*exchange.Result, error) {
	res := &exchange.Result{}
	if d.job.Verb == exchange.Bench {
		b := exchange.Times{Threads: runtime.GOMAXPROCS(0)}
		if err := b.Measure(d.job.Repeat, d.job.MinTime, call); err != nil {
			return nil, err
		}
		text, err := json.Marshal(b)
		res.Text = string(text)
		return res, err
	}
	if err := call(); err != nil {
		return nil, err
	}
	for i, a := range certificate.Unpack(d.results) {
		b, err := exchange.Encode(a)
		if err != nil {
			return nil, err
		}
		if err := os.WriteFile(filepath.Join(d.dir, exchange.OutputFile(i)), b, 0o600); err != nil {
			return nil, err
		}
		res.OutputNames = append(res.OutputNames, exchange.OutputFile(i))
	}
	return res, nil
}

// finish writes the result and ends the program.
func (d *Driver) finish(res *exchange.Result) {
	if err := exchange.Send(d.dir, func() (*exchange.Result, error) { return res, d.err }); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}
