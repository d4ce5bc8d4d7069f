package xla_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/internal/testkit/fxtest"
	"github.com/gofx-dev/gofx/internal/testkit/xlajax"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/xla"
	"github.com/gofx-dev/gofx/op"
)

// real is a list of programs for XLA itself, each of which is compiled once.
type real struct {
	t     testing.TB
	texts []string
	runs  map[string][]realRun
}

// realRun is one run of a program, and the judge of what it gives.
type realRun struct {
	what  string
	in    []*array.Array
	judge func(got []*array.Array) string
}

func (r *real) add(p *xla.Program, run realRun) {
	if r.runs == nil {
		r.runs = map[string][]realRun{}
	}
	text := p.String()
	if r.runs[text] == nil {
		r.texts = append(r.texts, text)
	}
	r.runs[text] = append(r.runs[text], run)
}

// batch is how many programs a request has.
const batch = 50

// check compiles and runs all of them and reports what is wrong.
func (r *real) check(x *xlajax.Runtime) (passed int) {
	r.t.Helper()
	for texts := range slices.Chunk(r.texts, batch) {
		var programs []xlajax.Job
		for _, text := range texts {
			p := xlajax.Job{Text: text}
			for _, run := range r.runs[text] {
				p.Runs = append(p.Runs, run.in)
			}
			programs = append(programs, p)
		}
		out, err := x.Run(programs...)
		require.NoError(r.t, err)
		for i, o := range out {
			if o.Err != nil {
				r.t.Errorf("%s: %v\n%s", r.runs[texts[i]][0].what, o.Err, texts[i])
				continue
			}
			for k, run := range r.runs[texts[i]] {
				if wrong := run.judge(o.Runs[k]); wrong != "" {
					r.t.Errorf("%s: %s\n%s", run.what, wrong, texts[i])
					continue
				}
				passed++
			}
		}
	}
	return passed
}

// normal returns operands with zeros of their signs for numbers below the normal ones, which XLA's runs on a
// processor take for zero.
func normal(in []*array.Array) []*array.Array {
	least := map[array.DType]float64{array.F32: 0x1p-126, array.BF16: 0x1p-126, array.F64: 0x1p-1022}
	out := slices.Clone(in)
	for i, a := range in {
		if a == nil || least[a.DType()] == 0 {
			continue
		}
		out[i] = array.Contiguous(array.Clone(a))
		for k := range a.Len() {
			if x := array.Float64At(a, k); math.Abs(x) < least[a.DType()] {
				array.SetFloat64At(out[i], k, math.Copysign(0, x))
			}
		}
	}
	return out
}

// TestXLAComputesSamples: every program of a sample, and of scalars, is compiled by XLA and computes what the operator does,
// of special operands, too.
func TestXLAComputesSamples(t *testing.T) {
	x := xlajax.Start(t)
	random := rand.New(rand.NewPCG(2, 754))
	runs, programs, rows := 0, 0, readRows(t)
	for _, o := range triedOps() {
		t.Run(o.Key(), func(t *testing.T) {
			r := &real{t: t}
			for i, s := range slices.Concat(o.Samples(), fxtest.Scalars(o)) {
				if !fxtest.IsNightly() && i%share != 0 {
					continue
				}
				r.sample(o, s, random)
			}
			runs += r.check(x)
			programs += len(r.texts)
			if fxtest.IsNightly() && !t.Failed() {
				rows[o.Key()] = rowOf(t, o)
			}
		})
	}
	t.Log(runs, "runs of", programs, "programs")
	if *update {
		require.True(t, fxtest.IsNightly(), "-update takes all samples: set GOFX_NIGHTLY=1")
		writeRows(t, rows)
	}
}

// share is of how many programs one is given to XLA on every change: to compile them takes its time.
const share = 12

// sample adds the program of a call, to be run with its operands and with some of special values.
func (r *real) sample(o *op.Op, s op.Sample, random *rand.Rand) {
	r.t.Helper()
	p, err := xla.Emit(oneCall(o, s.Attrs, s.In), lowering.Options{})
	if err != nil {
		require.ErrorIs(r.t, err, lowering.Unsupported)
		return
	}
	s.In = normal(s.In)
	want := evalCall(r.t, o, s)
	r.add(p, realRun{s.Name, present(s.In), func(got []*array.Array) string { return computedAs(o, s, want, got) }})
	trials := 1
	if fxtest.IsNightly() {
		trials = 10
	}
	for range trials {
		in := fxtest.Special(random, s.In)
		if in == nil || fxtest.Excused(o, s.Attrs, in) || strings.HasPrefix(o.Name, "conv_transpose") && !finite(in[1]) {
			continue // XLA multiplies the zeros between elements with weights, too
		}
		want, err := o.Eval(&kernel.Workspace{}, s.Attrs, in)
		if err != nil {
			continue // a program refuses no values
		}
		r.add(p, realRun{s.Name + ", special", present(in), func(got []*array.Array) string {
			d := fxtest.CloseArrays(want, got)
			if d != "" && s.In[0].Len() > 10000 && sumsAgree(want, got) {
				return "" // XLA adds one after the other: thousands of equal numbers are off in one direction
			}
			for _, a := range present(in) {
				if d != "" {
					d += "\nof " + array.Format(a, 60)
				}
			}
			return d
		}})
	}
}

// sumsAgree reports whether results are the same numbers, up to a ten-thousandth of those that are finite.
func sumsAgree(want, got []*array.Array) bool {
	for i, w := range want {
		for k := range w.Len() {
			x, y := array.Float64At(w, k), array.Float64At(got[i], k)
			if x != y && !(x != x && y != y) && !(math.Abs(x-y) <= 1e-4*math.Abs(x)) {
				return false
			}
		}
	}
	return true
}

func finite(a *array.Array) bool {
	for k := range a.Len() {
		if x := array.Float64At(a, k); x-x != 0 {
			return false
		}
	}
	return true
}

// computedAs is differsFrom for XLA, which adds a bias to a product of quantised values in one rounding.
func computedAs(o *op.Op, s op.Sample, want, got []*array.Array) string {
	if d := differsFrom(o, s, want, got); d == "" || o.Tol != (op.Tolerance{}) {
		return d
	}
	return fxtest.CloseArrays(want, got)
}
