package work

import (
	"bytes"
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
	"github.com/gofx-dev/gofx/cmd/fxgen/internal/exchange"
	"github.com/gofx-dev/gofx/codegen"
	"github.com/gofx-dev/gofx/codegen/certificate"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/onnx"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/shape"
)

// Tested are the choices of tests that come with generated code.
const (
	TestedAuto = ""    // models in files are
	TestedYes  = "yes" // or it is an error
	TestedNo   = "no"
)

// certify makes the tests of the generated package, nil if it gets none. It computes
// with the plan that kernel style prints, or with the interpreter, whose calls are
// those of module style.
func (c *captured) certify(ctx context.Context, j *Job, res *Result) (*codegen.Tests, error) {
	switch {
	case j.Verb != Gen || j.Tested == TestedNo:
		return nil, nil
	case j.Tested == TestedAuto && !c.src.hasSamples():
		return nil, c.atShapes(ctx, j)
	}
	if c.ofModule(j) {
		return nil, diag.New(BadValue, "-test: the code is a function of "+c.src.Name+", which only the package that has it can make").
			WithHint("choose -style kernel, or test the function next to its module")
	}
	cert, err := c.certificate(ctx, j, res)
	if err != nil {
		if j.Tested == TestedYes || j.SamplesDir != "" || ctx.Err() != nil || len(j.Shapes) > 0 && errors.Is(err, certificate.Differs) {
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

// certified describes the samples, and the tolerances reached.
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

// reference computes outputs with the interpreter: of the graph before the passes, so that
// the error of a pass is seen.
func (c *captured) reference(ctx context.Context, in []*array.Array) (out []*array.Array, err error) {
	m := c.gm
	if c.origin != nil {
		m = c.origin
	}
	return interpret(ctx, fresh(m), in)
}

func interpret(ctx context.Context, m *graph.Module, in []*array.Array) (out []*array.Array, err error) {
	err = exchange.Recover(func() error {
		out, err = fx.NewGraphModule(m).RunArrays(ctx, in)
		return err
	})
	for i, a := range out {
		if a == nil {
			return nil, diag.New(BadValue, "output "+strconv.Itoa(i)+" is nothing")
		}
	}
	return out, err
}

// fresh is a copy of a graph with a state of its own: runs change it.
func fresh(m *graph.Module) *graph.Module {
	m = graph.Clone(m)
	if !remembers(m) {
		return m
	}
	for _, p := range m.Params() {
		if p.Value != nil {
			p.Value = array.Clone(p.Value)
		}
	}
	return m
}

// remembers reports whether a run changes the results of the next one.
func remembers(m *graph.Module) bool {
	for n := range m.All() {
		if n.Op() == op.Assign {
			return true
		}
	}
	return false
}

// certificate returns the expected results for the package's tests. An existing
// certificate of the same graph, weights and samples stays: other processors compute
// other bits, and the generated code must not depend on them.
func (c *captured) certificate(ctx context.Context, j *Job, res *Result) (*certificate.Certificate, error) {
	given, err := c.given(j, res)
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
		var open []shape.Dim
		if cert.Samples, open, err = c.madeUp(ctx, j); err != nil {
			return nil, err
		}
		if len(open) > 0 {
			res.Notes.Add(untried(open))
		}
	} else if err := c.atShapes(ctx, j); err != nil {
		return nil, err
	}
	cert.Samples, err = c.reach(ctx, j, cert.Samples, given == nil, res)
	return cert, err
}

// untried says which sizes the samples show too little of.
func untried(sizes []shape.Dim) *diag.Error {
	text := make([]string, 0, mostNamed+1)
	for i, d := range sizes {
		if i == mostNamed {
			text = append(text, "…")
			break
		}
		text = append(text, d.String())
	}
	return &diag.Error{Note: true, Msg: fmt.Sprintf("the generated test has fewer than %d values of: %s", passes.EnoughValues, strings.Join(text, ", ")),
		Hint: "compare larger sizes that the model takes with -shape, or give samples with -samples"}
}

const mostNamed = 4 // sizes in a note

// atShapes compares the plan with the interpreter at the sizes of -shape, where there are no
// samples, or such as are given and may have other sizes.
func (c *captured) atShapes(ctx context.Context, j *Job) error {
	if len(j.Shapes) == 0 {
		return nil
	}
	t := trial{c: c, j: j, free: map[string]bool{}}
	if err := t.smallest(ctx); err != nil {
		return err
	}
	_, err := c.reach(ctx, j, t.list, false, nil)
	return err
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

// reach computes the samples with the plan, and notes how far the printed code's results
// are from them: the plan, or the calls of module style, which the interpreter makes. If
// some of several synthetic samples are refused, the others are returned.
func (c *captured) reach(ctx context.Context, j *Job, samples []certificate.Sample, made bool, res *Result) (good []certificate.Sample, err error) {
	p := planned{module: c.gm}
	defer func() {
		if failed := p.close(); err == nil {
			err = failed
		}
	}()
	calls := interpreted{module: c.gm}
	var errs diag.List
	left := false // a sample is left out, and those that continue it
	for _, s := range samples {
		if left = left && s.Continues; left {
			continue
		}
		got, err := p.run(ctx, &s)
		switch {
		case j.Style == Module:
			err = c.reachModule(ctx, &s, &calls, got, err)
		case err == nil:
			err = s.Reach(got)
		case made && len(good) > 0 && ctx.Err() == nil:
			res.Notes.Add(&diag.Error{Note: true, Msg: "the generated test has no sample " + s.Name + ": " + first(err)})
			left = true
			continue
		}
		for _, e := range all(err) {
			errs.Add(e.At(diag.Pos{File: s.Name}))
		}
		left = err != nil
		good = append(good, s)
	}
	return good, errs.Err()
}

// reachModule is reach for module style, whose code may have functions that plans refuse.
func (c *captured) reachModule(ctx context.Context, s *certificate.Sample, calls *interpreted, planned []*array.Array, refused error) error {
	other := certificate.Sample{Name: s.Name, Outputs: slices.Clone(s.Outputs)}
	if refused == nil {
		if err := other.Reach(planned); err != nil {
			return err
		}
	}
	got, err := calls.run(ctx, s)
	if err != nil {
		return err
	}
	return s.Reach(got)
}

// planned runs a plan, a new one for each sample of a module that remembers, except where a
// sample continues another.
type planned struct {
	module *graph.Module
	exe    *cpu.Executable
	before []*array.Array
}

func (p *planned) run(ctx context.Context, s *certificate.Sample) (out []*array.Array, err error) {
	if p.exe == nil || !s.Continues && remembers(p.module) {
		if err := p.close(); err != nil {
			return nil, err
		}
		if p.exe, err = cpu.Compile(fresh(p.module), lowering.Options{}); err != nil {
			return nil, err
		}
	}
	out, err = p.exe.Run(ctx, s.Arrays(p.before...))
	p.before = copies(out)
	return out, err
}

func (p *planned) close() error {
	exe := p.exe
	p.exe = nil
	if exe == nil {
		return nil
	}
	return exe.Close()
}

// interpreted runs the interpreter, on a state of its own for each sample, except where a
// sample continues another.
type interpreted struct {
	module *graph.Module
	state  *graph.Module
	before []*array.Array
}

func (r *interpreted) run(ctx context.Context, s *certificate.Sample) (out []*array.Array, err error) {
	if r.state == nil || !s.Continues {
		r.state = fresh(r.module)
	}
	out, err = interpret(ctx, r.state, s.Arrays(r.before...))
	r.before = copies(out)
	return out, err
}

// copies are arrays whose memory no later run takes.
func copies(list []*array.Array) []*array.Array {
	out := make([]*array.Array, len(list))
	for i, a := range list {
		if a != nil {
			out[i] = array.Clone(a)
		}
	}
	return out
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
		for _, in := range s.Inputs {
			fmt.Fprintf(h, "%d", in.From)
			hashArray(h, "in", in.Value)
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
func (c *captured) given(j *Job, res *Result) ([]certificate.Sample, error) {
	if j.SamplesDir == "" {
		return nil, nil
	}
	if !c.src.hasSamples() {
		return nil, diag.New(BadValue, "-samples "+j.SamplesDir+": "+c.src.Name+" is no .onnx or .pt2 file").
			WithHint("leave it out: the samples are made up then")
	}
	sets, err := c.src.samples(j.SamplesDir)
	if err != nil {
		return nil, err
	}
	var list []certificate.Sample
	for _, set := range sets {
		if err := c.sameBound(set); err != nil {
			return nil, err
		}
		s := certificate.Sample{Name: set.Name}
		for _, a := range c.src.args(set) {
			s.Inputs = append(s.Inputs, certificate.Input{Value: a})
		}
		for _, a := range set.Outputs {
			s.Outputs = append(s.Outputs, certificate.Expect(a))
		}
		list = append(list, s)
	}
	list = chained(list, sets)
	n := fitting(list, mostSamples)
	switch {
	case n == 0 && len(list) > 0:
		return nil, diag.New(BadValue, fmt.Sprintf("-samples %s: the inputs of %s have more than %d bytes, which become a file next to the code", j.SamplesDir, list[0].Name, mostSamples)).
			WithHint("give fewer or smaller samples")
	case n < len(list):
		res.Notes.Add(&diag.Error{Note: true, Msg: fmt.Sprintf("the generated test has %d of the %d samples: the inputs of more have over %d bytes", n, len(list), mostSamples)})
	}
	return list[:n], nil
}

// fitting is how many of the first samples have inputs of at most so many bytes together.
func fitting(list []certificate.Sample, most int) int {
	size := 0
	for k, s := range list {
		for _, in := range s.Inputs {
			if in.Value != nil {
				size += in.Value.Len() * in.Value.DType().Size()
			}
		}
		if size > most {
			return k
		}
	}
	return len(list)
}

// mostSamples bounds the bytes of all inputs. They are read when the test runs, and no part
// of the program.
const mostSamples = 256 << 20

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

// chained makes steps of samples that are: those with an input that is, to the bit, a result
// of the sample before. Results that say nothing, such as zeros, make no steps.
func chained(list []certificate.Sample, sets []onnx.Sample) []certificate.Sample {
	for k := 1; k < len(list); k++ {
		s := &list[k]
		for i := range s.Inputs {
			in := &s.Inputs[i]
			at := slices.IndexFunc(sets[k-1].Outputs, func(a *array.Array) bool { return telling(a) && identical(in.Value, a) })
			if at >= 0 {
				*in, s.Continues = certificate.Input{From: at + 1}, true
			}
		}
	}
	return list
}

// telling reports whether an array has different elements.
func telling(a *array.Array) bool {
	for i := 1; i < a.Len(); i++ {
		if array.Float64At(a, i) != array.Float64At(a, 0) {
			return true
		}
	}
	return false
}

func identical(a, b *array.Array) bool {
	return a.DType() == b.DType() && slices.Equal(a.Shape(), b.Shape()) &&
		bytes.Equal(array.Bytes(array.Contiguous(a)), array.Bytes(array.Contiguous(b)))
}
