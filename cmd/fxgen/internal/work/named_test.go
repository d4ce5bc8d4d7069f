package work

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/array/npy"
	"github.com/gofx-dev/gofx/onnx"
)

// colons writes a model whose inputs have names that are no identifiers.
func colons(t *testing.T, text string, names ...string) string {
	m := parsed(t, text)
	for _, p := range m.Params() {
		d, dims, _ := p.TypeOf().Concrete()
		p.Value = array.New(d, dims...)
		for i := range p.Value.Len() {
			array.SetFloat64At(p.Value, i, float64(i%5)-2)
		}
		m.SetParam(*p)
	}
	var b bytes.Buffer
	require.NoError(t, onnx.Export(&b, m, onnx.ExportOptions{Inputs: names}))
	path := filepath.Join(t.TempDir(), "colons.onnx")
	require.NoError(t, os.WriteFile(path, b.Bytes(), 0o600))
	return path
}

const product = `gofx 1

graph net(%x: f32[N,4], %z: f32[N,2]) {
  symbol N = dim(%x, 0)
  %w = get_attr[w] : f32[2,4]
  %y = call_function[linear](%x, %w) : f32[N,2]
  %s = call_function[add](%y, %z) : f32[N,2]
  return %s
}
param w : f32[2,4]
`

// A file's names of inputs, such as those of TensorFlow, work in every flag and stay in
// exported models.
func TestNamesOfTheFile(t *testing.T) {
	path := colons(t, product, "serving_x:0", "z:0")
	file := func(dims ...int) string {
		a := array.New(array.F32, dims...)
		for i := range a.Len() {
			array.SetFloat64At(a, i, float64(i)/3-1)
		}
		name := filepath.Join(t.TempDir(), "in.npy")
		var b bytes.Buffer
		require.NoError(t, npy.Write(&b, a))
		require.NoError(t, os.WriteFile(name, b.Bytes(), 0o600))
		return name
	}
	do := func(j *Job) (*Result, error) {
		src, err := Open(path, &Job{})
		require.NoError(t, err)
		return Do(context.Background(), src, j)
	}
	x, z := file(3, 4), file(3, 2)
	for _, names := range [][2]string{{"serving_x:0", "z:0"}, {"serving_x_0", "z_0"}} {
		values := []Named{{names[0], x}, {names[1], z}}
		shapes := []Named{{names[0], "3,4"}}
		types := []Named{{names[0], "f32[B,4]"}, {names[1], "f32[B,2]"}}
		res, err := do(&Job{Verb: Quant, Calib: values, Shapes: shapes, Save: true, Passes: Optimise()})
		require.NoError(t, err)
		require.Contains(t, res.Text, "of 2 operators quantised")
		require.NotContains(t, notes(res), "synthetic inputs")
		res, err = do(&Job{Verb: Run, In: values, Inputs: types, Engine: Plan})
		require.NoError(t, err)
		require.Contains(t, res.Text, "f32[3,2]")
		res, err = do(&Job{Verb: Run, In: values, Calib: values, Engine: Int8, Passes: Optimise()})
		require.NoError(t, err)
		require.NotContains(t, notes(res), "synthetic inputs")
	}
	res, err := do(&Job{Verb: Export, ONNX: Exported{Name: "again.onnx"}})
	require.NoError(t, err)
	again, err := onnx.Parse(res.Files[0].Data, "again.onnx")
	require.NoError(t, err)
	require.Equal(t, []string{"serving_x:0", "z:0"}, again.Inputs())
}

func notes(res *Result) string {
	var b strings.Builder
	for _, n := range res.Notes {
		b.WriteString(n.Msg + "\n")
	}
	return b.String()
}

// halved needs pictures of 33 rows and an odd number of columns.
const halved = `gofx 1

graph net(%x: f32[N,1,H,W]) {
  symbol N = dim(%x, 0)
  symbol H = dim(%x, 2)
  symbol W = dim(%x, 3)
  guard H >= 33
  guard W == 2*((W-1)//2)+1
  guard (W-1)//16+1 == 2*((W-1)//32)+2
  %p = call_function[relu](%x) : f32[N,1,H,W]
  return %p
}
`

// Inputs that nobody gives have sizes that the guards allow, near those that are given.
func TestMadeUpInputsFitTheGuards(t *testing.T) {
	c := &captured{src: &Source{}, gm: parsed(t, halved)}
	in, dims, err := c.values(&Job{})
	require.NoError(t, err)
	require.Equal(t, []int{1, 1, 33, 17}, in[0].Shape())
	require.Equal(t, map[string]int{"N": 1, "H": 33, "W": 17}, dims)
	in, _, err = c.values(&Job{Shapes: []Named{{"x", "2,1,5,7"}}})
	require.NoError(t, err)
	require.Equal(t, []int{2, 1, 5, 7}, in[0].Shape(), "sizes that are given stay, and the engine says what they break")
}

// Of inputs that nobody has chosen a model need not take all.
func TestCalibrationWithoutData(t *testing.T) {
	ctx := context.Background()
	open := func(text string) *Source { return &Source{Name: "net", Graph: parsed(t, text)} }
	// A row of zeros divides 0 by 0.
	const masked = `gofx 1
graph net(%m: i64[1], %w: f32[4,4]) {
  %f = call_function[cast](%m) {dtype=f32} : f32[1]
  %s = call_function[div](%f, %f) : f32[1]
  %x = call_function[mul](%w, %s) : f32[4,4]
  %y = call_function[matmul](%x, %w) : f32[4,4]
  return %y
}
`
	some := false
	for _, seed := range []string{"a", "b", "c", "d"} {
		res, err := Do(ctx, open(masked), &Job{Verb: Quant, Seed: seed, Save: true})
		if err != nil {
			require.ErrorContains(t, err, "-calib", seed)
			continue
		}
		some = some || strings.Contains(notes(res), "that the model does not take")
	}
	require.True(t, some)
	const index = `gofx 1
graph net(%i: i64[64], %w: f32[1,4]) {
  %e = call_function[embedding](%i, %w) : f32[64,4]
  %y = call_function[matmul](%e, %v) : f32[64,4]
  return %y
}
`
	_, err := Do(ctx, open(strings.Replace(strings.Replace(index, "%w: f32[1,4]", "%w: f32[1,4], %v: f32[4,4]", 1), "embedding](%i, %w)", "embedding](%i, %w)", 1)), &Job{Verb: Quant, Save: true})
	require.ErrorContains(t, err, "out of range")
	require.ErrorContains(t, err, "the inputs were synthetic: give real ones with -calib")
}

// Synthetic weights of every float type are those of f32, rounded.
func TestSyntheticWeightsOfOtherFloats(t *testing.T) {
	weights := func(dtype string) *array.Array {
		m := parsed(t, strings.ReplaceAll(product, "f32", dtype))
		fillGraph(m, "a")
		return m.Params()[0].Value
	}
	want := weights("f32")
	require.NotZero(t, array.Float64At(want, 0))
	for _, d := range []array.DType{array.F64, array.F16, array.BF16} {
		require.True(t, array.Equal(array.Cast(want, d), weights(d.String())), d)
	}
}
