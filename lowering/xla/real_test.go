package xla_test

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/internal/fxtest"
	"github.com/gofx-dev/gofx/internal/xlajax"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/xla"
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

// ask compiles and runs all of them, and calls done with what is wrong with each run, "" if nothing is.
func (r *real) ask(x *xlajax.Runtime, done func(run realRun, text, wrong string)) {
	r.t.Helper()
	for from := 0; from < len(r.texts); from += batch {
		var programs []xlajax.Program
		for _, text := range r.texts[from:min(from+batch, len(r.texts))] {
			p := xlajax.Program{Text: text}
			for _, run := range r.runs[text] {
				p.Runs = append(p.Runs, run.in)
			}
			programs = append(programs, p)
		}
		out, err := x.Run(programs...)
		require.NoError(r.t, err)
		for i, o := range out {
			for k, run := range r.runs[programs[i].Text] {
				wrong := ""
				if o.Err != nil {
					wrong = o.Err.Error()
				} else {
					wrong = run.judge(o.Runs[k])
				}
				done(run, programs[i].Text, wrong)
			}
		}
	}
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

// TestXLAComputesSamples: every program of a sample is compiled by XLA, and computes what the operator does.
func TestXLAComputesSamples(t *testing.T) {
	x := xlajax.Start(t)
	runs, programs := 0, 0
	for _, o := range triedOps() {
		t.Run(o.Key(), func(t *testing.T) {
			r := &real{t: t}
			for i, s := range o.Samples() {
				if !fxtest.IsNightly() && i%share != 0 {
					continue
				}
				p, err := xla.Emit(oneCall(o, s.Attrs, s.In), lowering.Options{})
				if err != nil {
					require.ErrorIs(t, err, lowering.Unsupported)
					continue
				}
				s.In = normal(s.In)
				want := evalCall(t, o, s)
				r.add(p, realRun{s.Name, present(s.In), func(got []*array.Array) string { return differsFrom(o, s, want, got) }})
			}
			r.ask(x, func(run realRun, text, wrong string) {
				if runs++; wrong != "" {
					t.Errorf("%s: %s\n%s", run.what, wrong, text)
				}
			})
			programs += len(r.texts)
		})
	}
	t.Log(runs, "runs of", programs, "programs")
}

// share is of how many programs one is given to XLA on every change: to compile them takes its time.
const share = 6
