package customop

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/array/npy"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/shape"
	"github.com/gofx-dev/gofx/tensor"
)

// The tests of this file hold every operator of the package to one meaning, the result
// of op.Op on arrays: each sample is run in each engine.

var ctx = context.Background()

// sample is one call of an operator, and its expected results.
type sample struct {
	name string
	op   *op.Op
	op.Sample
	want *array.Array
}

// samples are those of all operators that the package defines, so that a new one is
// held to its samples too.
func samples(t *testing.T) (list []sample) {
	t.Helper()
	operators := 0
	for _, o := range op.All() {
		if o.Path != "example.com/customop" {
			continue
		}
		operators++
		require.GreaterOrEqual(t, len(o.Samples()), 8, o.Name)
		require.NotEmpty(t, o.BadSamples(), o.Name)
		for _, s := range o.Samples() {
			want, err := o.Eval(&kernel.Workspace{}, s.Attrs, s.In)
			require.NoError(t, err)
			list = append(list, sample{o.Name + ", " + s.Name, o, s, want[0]})
		}
	}
	require.Equal(t, 3, operators)
	return list
}

// call calls an operator; a trace records it.
func call(o *op.Op, attrs any) func(x ...*tensor.Tensor) *tensor.Tensor {
	return func(x ...*tensor.Tensor) *tensor.Tensor { return tensor.CallOp(o, attrs, x...) }
}

func tensors(in []*array.Array) (out []*tensor.Tensor) {
	for _, a := range in {
		out = append(out, tensor.New(a))
	}
	return out
}

// capture traces a call with inputs of the operands' types.
func capture(o *op.Op, attrs any, in []*array.Array) (*fx.GraphModule, error) {
	var metas []*tensor.Tensor
	for _, a := range in {
		metas = append(metas, fx.Meta(shape.TypeOf(a).String()))
	}
	return fx.Trace(ctx, call(o, attrs), fx.Args(metas))
}

// TestSamplesInEveryEngine runs all samples in the engines that need no compiler. The
// text form has the operators by import path, and a plan has their steps.
func TestSamplesInEveryEngine(t *testing.T) {
	for _, s := range samples(t) {
		t.Run(s.name, func(t *testing.T) {
			exact := func(engine string, got *array.Array) {
				t.Helper()
				require.Empty(t, passes.Differ(got, s.want, 0, 0), engine)
			}
			exact("eager", call(s.op, s.Attrs)(tensors(s.In)...).Array())

			gm, err := capture(s.op, s.Attrs, s.In)
			require.NoError(t, err)
			out, err := gm.RunArrays(ctx, s.In)
			require.NoError(t, err)
			exact("interp", out[0])

			parsed, err := graph.Parse([]byte(gm.String()), "sample.fx")
			require.NoError(t, err)
			same, diff := graph.EqualModules(gm.Module, parsed)
			require.True(t, same, diff)
			out, err = fx.NewGraphModule(parsed).RunArrays(ctx, s.In)
			require.NoError(t, err)
			exact("text", out[0])

			exe, err := cpu.Compile(gm.Module, lowering.Options{Exact: true})
			require.NoError(t, err)
			defer exe.Close()
			out, err = exe.Run(ctx, s.In)
			require.NoError(t, err)
			exact("plan", out[0])
		})
	}
}

// TestSamplesInGeneratedCode makes one graph that calls all samples and lets fxgen
// generate, build and run it in both styles.
func TestSamplesInGeneratedCode(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: generated code takes a while to build")
	}
	dir, list := t.TempDir(), samples(t)
	for i, s := range list { // as files hold operands: products may round otherwise for other layouts
		for k, a := range s.In {
			s.In[k] = array.Contiguous(a)
		}
		want, err := s.op.Eval(&kernel.Workspace{}, s.Attrs, s.In)
		require.NoError(t, err)
		list[i].want = want[0]
	}
	g := graph.New("samples")
	c, results := g.At(), &graph.Structure{Kind: graph.SliceOf}
	var args []string
	var operands, out []*graph.Node
	for i, s := range list {
		for k, a := range s.In {
			name := fmt.Sprintf("s%d_%s", i, s.op.In[k].Name)
			file := filepath.Join(dir, name+".npy")
			require.NoError(t, npy.WriteFile(file, a))
			args = append(args, "-in", name+"="+file)
			operands = append(operands, c.Placeholder(name, shape.TypeOf(a), nil))
		}
	}
	for i, s := range list {
		out = append(out, c.Function(s.op, s.Attrs, operands[:len(s.In)]...))
		operands, results.Fields = operands[len(s.In):], append(results.Fields, graph.Leaf(i))
	}
	c.Output(results, out...)
	file := filepath.Join(dir, "samples.fx")
	require.NoError(t, os.WriteFile(file, []byte(graph.NewModule(g).String()), 0o666))

	for engine, tolerance := range map[string]float64{"module": 0, "gen": 1e-6} { // kernels may round in another order
		t.Run(engine, func(t *testing.T) {
			run := append([]string{"tool", "fxgen", "run", "-force", "-import", ".", "-passes", "none", "-engine", engine}, args...)
			for i := range list {
				run = append(run, "-out", fmt.Sprintf("%d=%s", i, filepath.Join(dir, fmt.Sprintf("%s%d.npy", engine, i))))
			}
			text, err := exec.Command("go", append(run, file)...).CombinedOutput()
			require.NoError(t, err, "%s", text)
			for i, s := range list {
				got, err := npy.ReadFile(filepath.Join(dir, fmt.Sprintf("%s%d.npy", engine, i)))
				require.NoError(t, err)
				require.Empty(t, passes.Differ(got, s.want, tolerance, 0), s.name)
			}
		})
	}
}

// TestFaultyCallsAreRefused requires the code of each faulty call, at once and while
// it is traced.
func TestFaultyCallsAreRefused(t *testing.T) {
	for _, o := range []*op.Op{Snake, GatedLinear, Median} {
		for _, s := range o.BadSamples() {
			func() {
				defer func() {
					e, ok := recover().(*diag.Error)
					require.True(t, ok, "%s, %s", o.Name, s.Name)
					require.Equal(t, s.Code, e.Code, "%s, %s: %v", o.Name, s.Name, e)
				}()
				call(o, s.Attrs)(tensors(s.In)...)
			}()
			_, err := capture(o, s.Attrs, s.In)
			var l diag.List
			require.True(t, errors.As(err, &l), "%s, %s: %v", o.Name, s.Name, err)
			require.Len(t, l, 1)
			require.Equal(t, s.Code, l[0].Code, "%s, %s: %v", o.Name, s.Name, err)
			require.Contains(t, err.Error(), "conform_test.go:")
		}
	}
}
