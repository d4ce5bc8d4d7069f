package onnx

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/interp"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/onnx/internal/rule"
	"github.com/gofx-dev/gofx/shape"
)

// givenTypes parses types that inputs are given.
func givenTypes(t *testing.T, list map[string]string) map[string]shape.Type {
	types := map[string]shape.Type{}
	for name, text := range list {
		typ, err := shape.ParseType(text)
		require.NoError(t, err)
		types[name] = typ
	}
	return types
}

// TestInputsAreGivenTypes: a type that is given replaces the file's, and letters that become
// something do so in the other inputs, unless the types given disagree.
func TestInputsAreGivenTypes(t *testing.T) {
	const pair, three = `(float[N,3] x, float[N,3] y) => (float z) { z = Add(x, y) }`,
		`(float[N,K] x, float[N,K] y, float[N,"2*K"] w) => (float z) { s = Add(x, y) c = Concat<axis=1>(s, s) z = Add(c, w) }`
	for _, c := range []struct {
		src   string
		given map[string]string
		want  []string // types of the graph's inputs
	}{
		{pair, nil, []string{"f32[N,3]", "f32[N,3]"}},
		{pair, map[string]string{"x": "f32[2,3]"}, []string{"f32[2,3]", "f32[2,3]"}},
		{pair, map[string]string{"x": "f32[B,3]"}, []string{"f32[B,3]", "f32[B,3]"}},
		{pair, map[string]string{"x": "f32[1,3]", "y": "f32[M,3]"}, []string{"f32[1,3]", "f32[M,3]"}},
		{pair, map[string]string{"x": "f32[1,3]", "y": "f32[4,3]"}, []string{"f32[1,3]", "f32[4,3]"}},
		{pair, map[string]string{"x": "f32[?,3]"}, []string{"f32[x_0,3]", "f32[N,3]"}},
		{pair, map[string]string{"x": "f32[M,3]", "y": "f32[M,3]"}, []string{"f32[M,3]", "f32[M,3]"}},
		{pair, map[string]string{"x": "f32[M,1]", "y": "f32[M,5]"}, []string{"f32[M,1]", "f32[M,5]"}}, // in place of numbers, too
		{three, map[string]string{"x": "f32[N,4]"}, []string{"f32[N,4]", "f32[N,4]", "f32[N,8]"}},
	} {
		f := fromText(head + c.src)
		m, err := f.Import(Options{Inputs: givenTypes(t, c.given)})
		require.NoError(t, err, c.given)
		var got []string
		for _, n := range m.Graph.Inputs() {
			got = append(got, n.Type().String())
		}
		require.Equal(t, c.want, got, c.given)
		require.NoError(t, graph.Lint(m.Graph).Err())
	}
}

// TestRankIsGiven: a file may not even say how many dimensions an input has.
func TestRankIsGiven(t *testing.T) {
	f := fromText(head + `(float x) => (float y) { y = Softmax<axis=1>(x) }`)
	f.f.Model.Graph.Inputs[0].Type.Tensor.Shape = nil
	_, err := f.Import(Options{})
	require.ErrorIs(t, err, CodeValue)
	m, err := f.Import(Options{Inputs: givenTypes(t, map[string]string{"x": "f32[N,4]"})})
	require.NoError(t, err)
	require.Equal(t, "f32[N,4]", m.Graph.Inputs()[0].Type().String())
}

func TestTypesThatDoNotFit(t *testing.T) {
	for given, message := range map[string]string{
		"f32[3]":     `input "x": the type given is f32[3], the file has 2 dimensions`,
		"i64[N,3]":   `input "x": the type given is i64[N,3], the file has elements of f32`,
		"f32[*]":     `input "x": the type given is f32[*], expected one with sizes`,
		"f32[2*K,3]": `size 2*K of the type given needs K`,
	} {
		f := fromText(head + `(float[N,3] x) => (float y) { y = Neg(x) }`)
		_, err := f.Import(Options{Inputs: givenTypes(t, map[string]string{"x": given})})
		require.ErrorIs(t, err, CodeModel)
		require.ErrorContains(t, err, message)
		_, err = f.Import(Options{Inputs: givenTypes(t, map[string]string{"q": given})})
		require.ErrorContains(t, err, `a type is given for "q", which is no input`)
	}
}

// TestSizesOfOne: where letters meet of which one is 1 in the values, importing for them
// declares it, and a Model does so for each run.
func TestSizesOfOne(t *testing.T) {
	x := func(n int) *array.Array { return numbers(7, n, 3) }
	for _, src := range []string{
		`(float[N,3] x, float[M,3] y) => (float z) { z = Add(x, y) }`,
		`(float[N,3] x, float[M,3] y) => (float z) { s = Shape(y) e = Expand(x, s) z = Add(e, y) }`,
	} {
		f := fromText(head + src)
		model := NewModel(f, cpu.Target{}, ModelOptions{})
		defer model.Close()
		for _, sizes := range [][2]int{{4, 4}, {1, 4}, {1, 1}, {4, 4}, {1, 5}, {2, 2}} {
			in := map[string]*array.Array{"x": x(sizes[0]), "y": x(sizes[1])}
			m, bound, err := f.ImportFor(in, Options{})
			require.NoError(t, err)
			require.Empty(t, bound)
			p := interp.Interpreter{State: interp.NewState(m)}
			want, err := p.RunArrays(context.Background(), []*array.Array{in["x"], in["y"]})
			require.NoError(t, err)
			require.Equal(t, []int{max(sizes[0], sizes[1]), 3}, want[0].Shape())
			got, err := model.Run(context.Background(), in)
			require.NoError(t, err)
			require.NoError(t, compare(got[0], want[0]))
		}
		require.Equal(t, int64(2), model.Stats().Compiled, "one for equal sizes, one for x of one row")
		_, err := model.Run(context.Background(), map[string]*array.Array{"x": x(2), "y": x(3)})
		require.Error(t, err)
	}
}

// TestDataAreNotBound: nothing is fixed to the values of data, and errors name a cure.
func TestDataAreNotBound(t *testing.T) {
	f := fromText(head + `(float[N,4] x) => (float y) <int64[1] a = {0}, int64[2] p = {0,0}> { m = ReduceMean<keepdims=0>(x) k = Cast<to=7>(m) one = Unsqueeze(k, a) h, c = TopK<axis=1>(x, one) y = ReduceSum(h, one) }`)
	x := numbers(7, 2, 4)
	_, _, err := f.ImportFor(map[string]*array.Array{"x": x}, Options{})
	require.ErrorIs(t, err, CodeValue)
	require.ErrorContains(t, err, `it follows from the elements of "x"`)

	open := fromText(head + `(float[N,H,2] x) => (float y) { y = DFT<axis=0, inverse=1, onesided=1>(x) }`)
	_, err = open.Import(Options{})
	require.ErrorIs(t, err, CodeValue)
	require.ErrorContains(t, err, `sizes are not known of "x" f32[N,H,2]`)
	require.ErrorContains(t, err, `Options.Inputs`)
	var u *rule.Unsized
	require.ErrorAs(t, err, &u)
	require.Equal(t, []string{"x"}, u.Inputs)
}
