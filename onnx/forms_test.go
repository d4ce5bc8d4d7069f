package onnx

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/testkit/repo"
	"github.com/gofx-dev/gofx/interp"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
)

// rankModels are models of which the rank of the result depends on sizes, and shapes of x with those of y.
var rankModels = []struct {
	name, src string
	shapes    [][2][]int
	forms     int64 // executables for all shapes
}{
	{"all open", `(float[B,C,T] x) => (float y) { s = Squeeze(x) y = Relu(s) }`,
		[][2][]int{{{2, 1, 5}, {2, 5}}, {{2, 3, 5}, {2, 3, 5}}, {{1, 1, 1}, nil}, {{1, 3, 1}, {3}}, {{4, 1, 2}, {4, 2}}, {{0, 1, 2}, {0, 2}}}, 4},
	{"in a file one is 1", `(float[B,1,5] x) => (float y) { y = Squeeze(x) }`, [][2][]int{{{2, 1, 5}, {2, 5}}, {{1, 1, 5}, {5}}, {{3, 1, 5}, {3, 5}}}, 2},
	{"an expression", `(float[B,T] x) => (float y) <float[1,1,2] w = {1.0, 1.0}, int64[1] a = {1}> { u = Unsqueeze(x, a) c = Conv<strides=[2]>(u, w) y = Squeeze(c) }`,
		[][2][]int{{{2, 8}, {2, 4}}, {{2, 2}, {2}}, {{1, 9}, {4}}, {{2, 3}, {2}}}, 3},
	{"what follows knows the rank", `(float[B,C] x) => (float y) { s = Squeeze(x) n = Shape(s) t = Transpose(s) y = Reshape(t, n) }`,
		[][2][]int{{{2, 3}, {2, 3}}, {{2, 1}, {2}}, {{1, 1}, {}}}, 3},
	{"if one is 1", `(float[B,C,T] x) => (float y) <int64[1] one = {1}, int64 i = {1}, int64[1] a = {1}, int64[1] z = {0}> { n = Shape(x) g = Gather(n, i) d = Unsqueeze(g, z) e = Equal(d, one)
		y = If<then_branch = t () => (float r) { r = Squeeze(x, a) }, else_branch = f () => (float r) { r = Identity(x) }>(e) }`,
		[][2][]int{{{2, 1, 5}, {2, 5}}, {{2, 3, 5}, {2, 3, 5}}, {{1, 1, 1}, {1, 1}}, {{2, 4, 5}, {2, 4, 5}}}, 2},
	{"if not, and, or", `(float[B,C,T] x) => (float y) <int64 one = {1}, int64 four = {4}, int64 i = {1}, int64 j = {2}, int64[1] a = {1}, int64[1] m = {-1}> {
		n = Shape(x) g = Gather(n, i) h = Gather(n, j) e = Equal(g, one) o = Not(e) p = Greater(h, four) q = And(o, p) r = Less(h, one) w = Or(q, r)
		y = If<then_branch = t () => (float r) { r = Reshape(x, m) }, else_branch = f () => (float r) { r = Neg(x) }>(w) }`,
		[][2][]int{{{2, 1, 5}, {2, 1, 5}}, {{2, 3, 5}, {30}}, {{2, 3, 4}, {2, 3, 4}}, {{2, 3, 0}, {0}}, {{3, 3, 6}, {54}}}, 4},
	{"a branch that cannot be imported", `(float[B,C,T] x) => (float y) <int64 one = {1}, int64 i = {1}> { n = Shape(x) g = Gather(n, i) e = Equal(g, one)
		y = If<then_branch = t () => (float r) { r = Odd(x) }, else_branch = f () => (float r) { r = Neg(x) }>(e) }`,
		[][2][]int{{{2, 3, 5}, {2, 3, 5}}, {{2, 2, 5}, {2, 2, 5}}, {{2, 1, 5}, {-1}}}, 1},
	{"an If in an If", `(float[B,C,T] x) => (float y) <int64 one = {1}, int64 i = {1}, int64 j = {0}> { n = Shape(x) g = Gather(n, i) e = Equal(g, one) h = Gather(n, j) k = Equal(h, one)
		y = If<then_branch = t () => (float r) { r = Squeeze(x) }, else_branch = f () => (float r) {
			r = If<then_branch = u () => (float s) { s = Squeeze(x) }, else_branch = v () => (float s) { s = Neg(x) }>(k) }>(e) }`,
		[][2][]int{{{2, 3, 1}, {2, 3, 1}}, {{1, 3, 1}, {3}}, {{1, 3, 2}, {3, 2}}, {{2, 1, 2}, {2, 2}}}, 4},
}

// TestRanksThatDependOnSizes: a model keeps an executable for each form, and the interpreter runs the graph
// that decides by itself, if the file imports without sizes.
func TestRanksThatDependOnSizes(t *testing.T) {
	ctx := context.Background()
	for _, c := range rankModels {
		t.Run(c.name, func(t *testing.T) {
			f := fromText(head + c.src)
			plan := NewModel(f, cpu.Target{}, ModelOptions{})
			open, openErr := f.Import(Options{})
			for _, s := range c.shapes {
				x := numbers(7, s[0]...)
				in := map[string]*array.Array{"x": x}
				out, err := plan.Run(ctx, in)
				m, _, formErr := f.ImportFor(in, Options{})
				if len(s[1]) == 1 && s[1][0] < 0 {
					require.ErrorIs(t, err, CodeOperator)
					require.ErrorIs(t, formErr, CodeOperator)
					continue
				}
				require.NoError(t, err, s)
				require.NoError(t, formErr)
				require.Equal(t, append([]int{}, s[1]...), append([]int{}, out[0].Shape()...), s)
				require.Empty(t, graph.Lint(m.Graph))
				form, err := (&interp.Interpreter{State: interp.NewState(m)}).RunArrays(ctx, []*array.Array{x})
				require.NoError(t, err)
				require.Equal(t, out[0].Shape(), form[0].Shape())
				require.Equal(t, array.Data[float32](out[0]), array.Data[float32](array.Contiguous(form[0])))
				if openErr == nil {
					free, err := (&interp.Interpreter{State: interp.NewState(open)}).RunArrays(ctx, []*array.Array{x})
					require.NoError(t, err)
					require.Equal(t, out[0].Shape(), free[0].Shape())
					require.Equal(t, array.Data[float32](out[0]), array.Data[float32](array.Contiguous(free[0])))
				}
				_, err = cpu.Compile(m, lowering.Options{})
				require.NoError(t, err)
			}
			require.Equal(t, c.forms, plan.Stats().Compiled)
			require.NoError(t, plan.Close())
		})
	}
}

// TestFormsRefuseOthers: the graph of one form is not run on sizes of another, by any engine.
func TestFormsRefuseOthers(t *testing.T) {
	ctx := context.Background()
	f := fromText(head + rankModels[0].src)
	m, err := f.Import(Options{Sizes: map[string][]int{"x": {2, 1, 5}}})
	require.NoError(t, err)
	var guards, notes []string
	for _, d := range m.Graph.Guards() {
		guards = append(guards, d.String())
	}
	for _, s := range m.Graph.Specialisations() {
		notes = append(notes, s.What)
		require.Equal(t, s.What, s.Guard.String())
	}
	require.Equal(t, []string{"B != 1", "C == 1", "T != 1"}, guards)
	require.Equal(t, guards, notes)
	e, err := cpu.Compile(m, lowering.Options{})
	require.NoError(t, err)
	for _, c := range []struct {
		dims []int
		want string
	}{
		{[]int{3, 1, 7}, ""},
		{[]int{1, 1, 5}, `input "x" is f32[1,1,5]: squeeze needs B (axis 0, here 1) other than 1`},
		{[]int{2, 2, 5}, `input "x" is f32[2,2,5]: squeeze needs C (axis 1, here 2) equal to 1`},
		{[]int{2, 1, 1}, `input "x" is f32[2,1,1]: squeeze needs T (axis 2, here 1) other than 1`},
	} {
		in := []*array.Array{array.New(array.F32, c.dims...)}
		_, err := (&interp.Interpreter{State: interp.NewState(m)}).RunArrays(ctx, in)
		_, planned := e.Run(ctx, in)
		if c.want == "" {
			require.NoError(t, err)
			require.NoError(t, planned)
			continue
		}
		require.ErrorContains(t, err, c.want)
		require.ErrorIs(t, planned, interp.GuardFailed)
	}
	open, err := f.Import(Options{})
	require.NoError(t, err)
	_, err = cpu.Compile(open, lowering.Options{})
	require.ErrorIs(t, err, lowering.UnknownSize)
	require.ErrorContains(t, err, "-shape NAME=2,3")
}

// TestBranchesOfOtherRanks of which the run chooses one.
func TestBranchesOfOtherRanks(t *testing.T) {
	src := `(bool c, float[2,3] x) => (float y) <int64[1] s = {-1}> { y = If<then_branch = t () => (float[2,3] r) { r = Neg(x) },
		else_branch = e () => (float[6] r) { r = Reshape(x, s) }>(c) }`
	x := numbers(5, 2, 3)
	require.Equal(t, []int{2, 3}, interpreted(t, src, array.Scalar(true), x)[0].Shape())
	require.Equal(t, []int{6}, interpreted(t, src, array.Scalar(false), x)[0].Shape())
	m, err := fromText(head + src).Import(Options{})
	require.NoError(t, err)
	_, err = cpu.Compile(m, lowering.Options{})
	require.ErrorContains(t, err, "its branches give results of other ranks")
}

// TestSqueezeRefusesOtherSizes than 1 for axes that are named, as ONNX does.
func TestSqueezeRefusesOtherSizes(t *testing.T) {
	m, err := fromText(head + `(float[B,C] x) => (float y) <int64[1] a = {1}> { y = Squeeze(x, a) }`).Import(Options{})
	require.NoError(t, err)
	e, err := cpu.Compile(m, lowering.Options{})
	require.NoError(t, err)
	for _, n := range []int{1, 2} {
		in := []*array.Array{array.New(array.F32, 3, n)}
		_, err := (&interp.Interpreter{State: interp.NewState(m)}).RunArrays(context.Background(), in)
		_, planned := e.Run(context.Background(), in)
		require.Equal(t, n == 1, err == nil)
		require.Equal(t, n == 1, planned == nil)
	}
}

// TestReportedRanks has cases made after public reports, kept next to this checkout.
func TestReportedRanks(t *testing.T) {
	root, err := repo.Root()
	require.NoError(t, err)
	dir := filepath.Join(filepath.Dir(root), "shared", "reports")
	if _, err := os.Stat(dir); err != nil {
		t.Skip("no folder shared/reports next to this checkout: nothing to compare with")
	}
	var cases []string
	for _, kind := range []string{"squeeze_if", "squeeze_no_axes", "same_letter"} {
		found, err := filepath.Glob(filepath.Join(dir, kind, "*", "model.onnx"))
		require.NoError(t, err)
		require.NotEmpty(t, found)
		cases = append(cases, found...)
	}
	for _, path := range cases {
		t.Run(filepath.Base(filepath.Dir(path)), func(t *testing.T) { reported(t, path) })
	}
}

func reported(t *testing.T, path string) {
	ctx := context.Background()
	f, err := Read(path)
	require.NoError(t, err)
	samples, err := f.Samples(filepath.Dir(path))
	require.NoError(t, err)
	open, err := f.Import(Options{})
	require.NoError(t, err)
	var written bytes.Buffer
	require.NoError(t, Export(&written, open, ExportOptions{}))
	again, err := Parse(written.Bytes(), "again.onnx")
	require.NoError(t, err)
	reread, err := again.Import(Options{})
	require.NoError(t, err)
	model := NewModel(f, cpu.Target{}, ModelOptions{})
	for _, s := range samples {
		args := f.Args(s, nil)
		refused := filepath.Base(filepath.Dir(filepath.Dir(path))) == "same_letter"
		for name, run := range map[string]func() ([]*array.Array, error){
			"plan": func() ([]*array.Array, error) { return model.Run(ctx, s.Inputs) },
			"interp": func() ([]*array.Array, error) {
				return (&interp.Interpreter{State: interp.NewState(open)}).RunArrays(ctx, args)
			},
			"exported": func() ([]*array.Array, error) {
				return (&interp.Interpreter{State: interp.NewState(reread)}).RunArrays(ctx, args)
			},
		} {
			out, err := run()
			if refused {
				require.ErrorIs(t, err, interp.GuardFailed, name)
				require.ErrorContains(t, err, "dimension 0 is expected to be N, which is 2 here", name)
				continue
			}
			require.NoError(t, err, name)
			_, err = s.Check(out, StandardTolerance)
			require.NoError(t, err, name)
		}
	}
}

// TestLoopsThatChangeSizes: a value that a round makes larger, or gives another rank, has sizes of
// its own in the body; if the sizes of a run say that rounds change nothing, the plan is for those.
func TestLoopsThatChangeSizes(t *testing.T) {
	ctx := context.Background()
	for name, c := range map[string]struct {
		src    string
		in     map[string]*array.Array
		want   []int
		values []float32
		plans  bool
	}{
		"grows": {`(int64 n, float[N] x, float[M] z) => (float y) { y = Loop<body = b (int64 i, bool c, float v) => (bool d, float w) {
			d = Identity(c) r = Concat<axis=0>(v, z) s = Shape(r) w = Reshape(r, s) }>(n, _, x) }`,
			map[string]*array.Array{"n": array.Scalar(int64(3)), "x": numbers(9, 2), "z": numbers(5, 1)}, []int{5}, []float32{0, 7, 0, 0, 0}, false},
		"halves": {`(int64 n, float[N] x) => (float y) <int64[2] s = {-1, 2}, int64 one = {1}> { y = Loop<body = b (int64 i, bool c, float v) => (bool d, float w) {
			d = Identity(c) r = Reshape(v, s) w = Gather<axis=1>(r, one) }>(n, _, x) }`,
			map[string]*array.Array{"n": array.Scalar(int64(2)), "x": numbers(100, 8)}, []int{2}, []float32{21, 49}, false},
		"turns": {`(int64 n, float[A,B] x) => (float y) { y = Loop<body = b (int64 i, bool c, float v) => (bool d, float w) {
			d = Identity(c) w = Transpose(v) }>(n, _, x) }`,
			map[string]*array.Array{"n": array.Scalar(int64(3)), "x": numbers(100, 1, 2)}, []int{2, 1}, []float32{0, 7}, false},
		"turns a square": {`(int64 n, float[A,B] x) => (float y) { y = Loop<body = b (int64 i, bool c, float v) => (bool d, float w) {
			d = Identity(c) w = Transpose(v) }>(n, _, x) }`,
			map[string]*array.Array{"n": array.Scalar(int64(3)), "x": numbers(100, 2, 2)}, []int{2, 2}, []float32{0, 14, 7, 21}, true},
		"gets a rank": {`(int64 n, float[A] x) => (float y) <int64[1] a = {0}> { y = Loop<body = b (int64 i, bool c, float v) => (bool d, float w) {
			d = Identity(c) w = Unsqueeze(v, a) }>(n, _, x) }`,
			map[string]*array.Array{"n": array.Scalar(int64(2)), "x": numbers(100, 2)}, []int{1, 1, 2}, []float32{0, 7}, false},
		"spreads": {`(int64 n, float[1] x, float[B] z) => (float y) { y = Loop<body = b (int64 i, bool c, float v) => (bool d, float w) {
			d = Identity(c) w = Add(v, z) }>(n, _, x) }`,
			map[string]*array.Array{"n": array.Scalar(int64(2)), "x": numbers(100, 1), "z": numbers(5, 3)}, []int{3}, []float32{0, 4, 8}, false},
		"spreads over one": {`(int64 n, float[1] x, float[B] z) => (float y) { y = Loop<body = b (int64 i, bool c, float v) => (bool d, float w) {
			d = Identity(c) w = Add(v, z) }>(n, _, x) }`,
			map[string]*array.Array{"n": array.Scalar(int64(2)), "x": numbers(100, 1), "z": numbers(5, 1)}, []int{1}, []float32{0}, true},
	} {
		t.Run(name, func(t *testing.T) {
			f := fromText(head + c.src)
			for _, o := range []Options{{}, {Sizes: map[string][]int{"x": c.in["x"].Shape()}}} {
				if c.in["z"] != nil && o.Sizes != nil {
					o.Sizes["z"] = c.in["z"].Shape()
				}
				m, err := f.Import(o)
				require.NoError(t, err)
				require.Empty(t, graph.Lint(m.Graph))
				args := f.Args(Sample{Inputs: c.in}, nil)
				out, err := (&interp.Interpreter{State: interp.NewState(m)}).RunArrays(ctx, args)
				require.NoError(t, err)
				require.Equal(t, c.want, out[0].Shape())
				require.Equal(t, c.values, array.Data[float32](array.Contiguous(out[0])))
				e, err := cpu.Compile(m, lowering.Options{})
				if o.Sizes == nil || !c.plans {
					require.ErrorIs(t, err, lowering.UnknownSize)
					continue
				}
				require.NoError(t, err)
				out, err = e.Run(ctx, args)
				require.NoError(t, err)
				require.Equal(t, c.want, out[0].Shape())
				require.Equal(t, c.values, array.Data[float32](out[0]))
			}
		})
	}
}
