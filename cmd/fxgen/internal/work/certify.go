package work

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/codegen"
	"github.com/gofx-dev/gofx/codegen/certificate"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/onnx"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// Tested are the choices of tests beside generated code.
const (
	TestedAuto = ""    // models of ONNX are
	TestedYes  = "yes" // or it is an error
	TestedNo   = "no"
)

// certify makes the tests of the package that is generated, nil where there are to be
// none. What it computes with is the plan that kernel style prints, or the interpreter,
// whose calls are those of module style.
func (c *captured) certify(ctx context.Context, j *Job, res *Result) (*codegen.Tests, error) {
	if j.Verb != Gen || j.Tested == TestedNo || j.Tested == TestedAuto && c.src.onnx == nil {
		return nil, nil
	}
	if c.ofModule(j) {
		return nil, diag.New(BadValue, "-test: the code is a function of "+c.src.Name+", which only the package that has it can make").
			WithHint("choose -style kernel, or test the function beside its module")
	}
	cert, err := c.certificate(ctx, j)
	if err != nil {
		if j.Tested == TestedYes || j.SamplesDir != "" || ctx.Err() != nil {
			return nil, err
		}
		res.Notes.Add(&diag.Error{Note: true, Msg: "no test is generated: " + first(err), Hint: "give samples with -samples, or sizes that the model runs with, such as -shape x=1,3,224,224"})
		return nil, nil
	}
	data, err := cert.Bytes()
	if err != nil {
		return nil, err
	}
	t := &codegen.Tests{Samples: data, Doc: c.certified(cert)}
	example := cert.Samples[0]
	var zeros []*array.Array
	for _, in := range example.Inputs {
		t.Sizes = append(t.Sizes, in.Value.Shape())
		zeros = append(zeros, array.New(in.Value.DType(), in.Value.Shape()...))
	}
	if out, err := c.reference(ctx, zeros); err == nil {
		for _, a := range out {
			t.Results = append(t.Results, append([]int{}, a.Shape()...))
		}
	}
	return t, nil
}

func first(err error) string {
	text, _, _ := strings.Cut(err.Error(), "\n")
	return text
}

// certified says what the samples are, and what was reached.
func (c *captured) certified(cert *certificate.Certificate) []string {
	lines := []string{"expected: what " + cert.Origin + " computed"}
	names := c.outputNames()
	for _, s := range cert.Samples {
		for i, o := range s.Outputs {
			name := "output " + strconv.Itoa(i)
			if i < len(names) {
				name = names[i]
			}
			lines = append(lines, fmt.Sprintf("%s: %s within %.2g, relative %.2g; allowed %.2g, relative %.2g", s.Name, name,
				o.Reached.Abs, o.Reached.Rel, o.Allowed.Abs, o.Allowed.Rel))
		}
	}
	return lines
}

// reference computes outputs with the interpreter.
func (c *captured) reference(ctx context.Context, in []*array.Array) (out []*array.Array, err error) {
	err = Recover(func() error {
		out, err = fx.NewGraphModule(c.fresh()).RunArrays(ctx, in)
		return err
	})
	for i, a := range out {
		if a == nil {
			return nil, diag.New(BadValue, "output "+strconv.Itoa(i)+" is nothing")
		}
	}
	return out, err
}

// fresh is a copy of the graph with a state of its own: runs change it.
func (c *captured) fresh() *graph.Module {
	m := graph.Clone(c.gm)
	if !c.remembers() {
		return m
	}
	for _, p := range m.Params() {
		if p.Value != nil {
			p.Value = array.Clone(p.Value)
		}
	}
	return m
}

// remembers reports whether a run changes what the next one computes.
func (c *captured) remembers() bool {
	for n := range c.gm.All() {
		if n.Op() == op.Assign {
			return true
		}
	}
	return false
}

// certificate returns what the package is tested against. One that is beside the code
// already, for the same graph, weights and samples, stays: other processors compute
// other bits, and what is generated must not depend on them.
func (c *captured) certificate(ctx context.Context, j *Job) (*certificate.Certificate, error) {
	given, err := c.given(j)
	if err != nil {
		return nil, err
	}
	digest := c.digest(j, given)
	if old := earlier(j); old != nil && old.Digest == digest {
		return old, nil
	}
	cert := &certificate.Certificate{Digest: digest, Origin: "the author of the samples", Samples: given}
	if given == nil {
		cert.Origin = "the interpreter"
		if cert.Samples, err = c.madeUp(ctx, j); err != nil {
			return nil, err
		}
	}
	return cert, c.reach(ctx, j, cert)
}

// earlier is the certificate in the folder that is written to, nil for none.
func earlier(j *Job) *certificate.Certificate {
	name := "samples.safetensors"
	if j.File != "" && j.File != "model" {
		name = j.File + "_" + name
	}
	data, err := os.ReadFile(filepath.Join(j.OutDir, name))
	if err != nil {
		return nil
	}
	cert, err := certificate.Read(data)
	if err != nil || len(cert.Samples) == 0 {
		return nil
	}
	return cert
}

// reach computes the samples once more with what is printed, and notes how far it is
// from them.
func (c *captured) reach(ctx context.Context, j *Job, cert *certificate.Certificate) error {
	var exe *cpu.Executable
	run := c.reference
	if j.Style == Kernel {
		run = func(ctx context.Context, in []*array.Array) (out []*array.Array, err error) {
			if exe == nil || c.remembers() {
				if exe, err = cpu.Compile(c.fresh(), lowering.Options{}); err != nil {
					return nil, err
				}
			}
			return exe.Run(ctx, in)
		}
	}
	var errs diag.List
	for i := range cert.Samples {
		s := &cert.Samples[i]
		got, err := run(ctx, s.Arrays())
		if err == nil {
			err = s.Reach(got)
		}
		for _, e := range all(err) {
			errs.Add(e.At(diag.Pos{File: s.Name}))
		}
		if exe != nil && (c.remembers() || i == len(cert.Samples)-1) {
			errs.Add(exe.Close())
		}
	}
	return errs.Err()
}

// all lists the diagnostics of an error.
func all(err error) diag.List {
	var l diag.List
	var e *diag.Error
	switch {
	case err == nil:
	case errors.As(err, &l):
		return l
	case errors.As(err, &e):
		return diag.List{e}
	default:
		return diag.List{diag.Bug(err.Error())}
	}
	return nil
}

// digest identifies all that a certificate follows from.
func (c *captured) digest(j *Job, given []certificate.Sample) string {
	h := sha256.New()
	fmt.Fprintf(h, "%s %q\n%s\n", j.Style, j.Shapes, graph.Print(c.gm, graph.PrintOptions{}))
	for _, p := range c.gm.Params() {
		hashArray(h, p.Path, p.Value)
	}
	for _, s := range given {
		fmt.Fprintf(h, "%q", s.Name)
		for _, a := range s.Arrays() {
			hashArray(h, "in", a)
		}
		for _, o := range s.Outputs {
			hashArray(h, "out", o.Stored())
		}
	}
	return hex.EncodeToString(h.Sum(nil))[:32]
}

func hashArray(h hash.Hash, name string, a *array.Array) {
	if a == nil {
		return
	}
	fmt.Fprintf(h, "\n%q %s %v ", name, a.DType(), a.Shape())
	h.Write(array.Bytes(array.Contiguous(a)))
}

// given are the samples of the folder of -samples, nil without one.
func (c *captured) given(j *Job) ([]certificate.Sample, error) {
	if j.SamplesDir == "" {
		return nil, nil
	}
	if c.src.onnx == nil {
		return nil, diag.New(BadValue, "-samples "+j.SamplesDir+": "+c.src.Name+" is no .onnx file").
			WithHint("leave it out: the samples are made up then")
	}
	sets, err := c.src.onnx.Samples(j.SamplesDir)
	if err != nil {
		return nil, err
	}
	var list []certificate.Sample
	size := 0
	for _, set := range sets {
		if err := c.sameBound(set); err != nil {
			return nil, err
		}
		s := certificate.Sample{Name: set.Name}
		for _, a := range c.src.onnx.Args(set, c.src.bound) {
			size += a.Len() * a.DType().Size()
			s.Inputs = append(s.Inputs, certificate.Input{Value: a})
		}
		for _, a := range set.Outputs {
			s.Outputs = append(s.Outputs, certificate.Expect(a))
		}
		list = append(list, s)
	}
	if size > mostSamples {
		return nil, diag.New(BadValue, fmt.Sprintf("-samples %s: the inputs have %d bytes, expected at most %d, which become a file beside the code", j.SamplesDir, size, mostSamples)).
			WithHint("give fewer or smaller samples")
	}
	return list, nil
}

const mostSamples = 16 << 20 // bytes of all inputs

// sameBound refuses a sample that gives an input which is fixed another value.
func (c *captured) sameBound(set onnx.Sample) error {
	for _, name := range c.src.bound {
		if a, fixed := set.Inputs[name], c.src.fixed[name]; a == nil || !slices.Equal(a.Shape(), fixed.Shape()) || string(array.Bytes(array.Contiguous(a))) != string(array.Bytes(array.Contiguous(fixed))) {
			return diag.New(BadValue, "-samples: "+set.Name+" gives input "+name+" another value than it is fixed to").
				WithHint("give the value of the samples with -in, or leave -samples out")
		}
	}
	return nil
}

// madeUp makes two samples where sizes are open, of two batches, else one.
func (c *captured) madeUp(ctx context.Context, j *Job) ([]certificate.Sample, error) {
	var failed error
	for _, size := range trialSizes {
		s, err := c.tryAt(ctx, j, 1, size)
		if err == nil {
			list := []certificate.Sample{*s}
			if more, err := c.tryAt(ctx, j, 3, size); err == nil && more.Name != s.Name {
				list = append(list, *more)
			}
			return list, nil
		}
		if failed == nil {
			failed = err
		}
		if len(c.gm.Graph.Symbols()) == 0 || ctx.Err() != nil {
			break
		}
	}
	return nil, failed
}

// trialSizes are what sizes behind the first may be, tried in turn: lengths of sequences,
// then those of pictures. Not all models work with all.
var trialSizes = []int{7, 16, 32, 64, 224, 1}

// tryAt makes a sample of a batch, with the other sizes that are open and that neither
// -shape nor the model's entry gives, and runs it.
func (c *captured) tryAt(ctx context.Context, j *Job, batch, other int) (*certificate.Sample, error) {
	first := map[string]bool{} // sizes of a first axis
	for _, n := range c.gm.Graph.Inputs() {
		if t := n.Type(); t.Kind() == shape.Tensor && t.Ranked() && t.Rank() > 0 {
			if s, ok := t.Dim(0).IsSymbol(); ok {
				first[s] = true
			}
		}
	}
	f := &feed{job: &Job{Shapes: j.Shapes}, graph: c.gm.Graph, model: c.src.Model, files: map[string]*array.Array{}, dims: map[string]int{}}
	f.open = func(symbol string, usual int) int {
		switch {
		case first[symbol]:
			return batch
		case usual > 1:
			return usual
		}
		return other
	}
	if err := f.known(); err != nil {
		return nil, err
	}
	if err := f.sizes(); err != nil {
		return nil, err
	}
	s := &certificate.Sample{}
	var sizes []string
	for i, n := range c.gm.Graph.Inputs() {
		d, dims, err := f.shapeOf(n)
		if err != nil {
			return nil, err
		}
		if n, ok := array.NumElems(dims); !ok || n > certificate.MaxMade/8 {
			return nil, diag.New(BadValue, "an input would have "+strconv.Itoa(n)+" elements")
		}
		s.Inputs = append(s.Inputs, certificate.Made(d, dims, uint64(i+1)))
		sizes = append(sizes, fmt.Sprint(dims))
	}
	s.Name = strings.Join(sizes, " ")
	out, err := c.reference(ctx, s.Arrays())
	for _, a := range out {
		s.Outputs = append(s.Outputs, certificate.Expect(a))
	}
	return s, err
}
