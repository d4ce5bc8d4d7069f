package certificate_test

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/array/safetensors"
	"github.com/gofx-dev/gofx/codegen/certificate"
	"github.com/gofx-dev/gofx/tensor"
)

// waves are n elements of which no two are alike.
func waves(n int) *array.Array {
	a := array.New(array.F32, n)
	for i := range n {
		array.SetFloat64At(a, i, math.Sin(float64(i)))
	}
	return a
}

func write(t *testing.T, c *certificate.Certificate) string {
	data, err := c.Bytes()
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "samples.safetensors")
	require.NoError(t, os.WriteFile(path, data, 0o666))
	return path
}

// recorder is a test that may fail.
type recorder struct{ errors, logs []string }

func (*recorder) Helper() {}
func (r *recorder) Errorf(f string, a ...any) {
	r.errors = append(r.errors, fmt.Sprintf(f, a...))
}
func (r *recorder) Fatalf(f string, a ...any) { r.Errorf(f, a...) }
func (r *recorder) Logf(f string, a ...any)   { r.logs = append(r.logs, fmt.Sprintf(f, a...)) }

func TestRoundTrip(t *testing.T) {
	given := array.FromSlice([]int32{5, -7})
	c := &certificate.Certificate{Digest: "d", Origin: "o \"quoted\" \u2028", Samples: []certificate.Sample{{
		Name:    "one",
		Inputs:  []certificate.Input{{Value: given}, certificate.Made(array.F32, []int{3, 100, 100}, 9)},
		Outputs: []certificate.Output{certificate.Expect(waves(10)), certificate.Expect(waves(100_000)), certificate.Expect(array.New(array.F32))},
	}}}
	path := write(t, c)
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Less(t, info.Size(), int64(32<<10), "the file is small however large the values are")
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	again, err := certificate.Read(data)
	require.NoError(t, err)
	require.Equal(t, c.Digest, again.Digest)
	require.Equal(t, c.Origin, again.Origin)
	in := again.Samples[0].Arrays()
	require.True(t, array.Equal(given, in[0]))
	require.True(t, array.Equal(c.Samples[0].Inputs[1].Value, in[1]))
	reached, err := again.Samples[0].Compare([]*array.Array{waves(10), waves(100_000), array.New(array.F32)})
	require.NoError(t, err)
	require.Equal(t, make([]certificate.Tolerance, 3), reached)
	second, err := again.Bytes()
	require.NoError(t, err)
	require.Equal(t, data, second)
}

// Every element of a large output is looked at: those that are not stored by the sums.
func TestEveryElementCounts(t *testing.T) {
	const n = 50_001
	out := certificate.Expect(waves(n))
	for _, wrong := range []float64{1000, -1000, math.NaN(), math.Inf(1)} {
		for _, at := range []int{0, 1, 2, 6, 12_345, 25_000, n - 2, n - 1} {
			a := waves(n)
			array.SetFloat64At(a, at, wrong)
			_, err := out.Compare(a)
			require.ErrorIs(t, err, certificate.Differs, "element %d is %v", at, wrong)
		}
	}
	a := waves(n)
	for i := range n { // noise within the tolerance
		array.SetFloat64At(a, i, array.Float64At(a, i)*(1+1e-5*float64(i%3-1)))
	}
	reached, err := out.Compare(a)
	require.NoError(t, err)
	require.InDelta(t, 1e-5, reached.Rel, 1e-7)
	require.InDelta(t, 1e-5, reached.Abs, 1e-7)
}

func TestWhatDiffers(t *testing.T) {
	odd := array.FromSlice([]float32{1, float32(math.NaN()), float32(math.Inf(1)), 0})
	out := certificate.Expect(odd)
	for _, x := range []struct {
		got  *array.Array
		says string
	}{
		{odd, ""},
		{array.FromSlice([]float32{1.0001, float32(math.NaN()), float32(math.Inf(1)), 5e-5}), ""},
		{array.FromSlice([]float32{1.1, float32(math.NaN()), float32(math.Inf(1)), 0}), "element 0 is 1.10000002, expected 1"},
		{array.FromSlice([]float32{1, 2, float32(math.Inf(1)), 0}), "element 1 is 2, expected NaN"},
		{array.FromSlice([]float32{1, float32(math.NaN()), float32(math.Inf(-1)), 0}), "element 2 is -Inf, expected +Inf"},
		{array.FromSlice([]float32{1, float32(math.NaN()), 3e38, 0}), "element 2"},
		{array.FromSlice([]float64{1, 2, 3, 4}), "is f64[4], expected f32[4]"},
		{array.FromSlice([]float32{1, 2}), "is f32[2], expected f32[4]"},
		{nil, "is nothing"},
	} {
		_, err := out.Compare(x.got)
		if x.says == "" {
			require.NoError(t, err)
			continue
		}
		require.ErrorIs(t, err, certificate.Differs)
		require.ErrorContains(t, err, x.says)
	}
	whole := certificate.Expect(array.FromSlice([]int64{1 << 60, 3}))
	_, err := whole.Compare(array.FromSlice([]int64{1 << 60, 4}))
	require.ErrorContains(t, err, "element 1 is 4, expected 3", "integers are compared exactly")
}

func TestReach(t *testing.T) {
	s := certificate.Sample{Outputs: []certificate.Output{certificate.Expect(array.FromSlice([]float32{1, 100})), certificate.Expect(array.FromSlice([]int8{1}))}}
	require.NoError(t, s.Reach([]*array.Array{array.FromSlice([]float32{1.02, 100.1}), array.FromSlice([]int8{2})}))
	require.InDelta(t, 0.1, s.Outputs[0].Reached.Abs, 1e-5)
	require.InDelta(t, 0.2, s.Outputs[0].Allowed.Abs, 1e-5, "wider than usual")
	require.EqualValues(t, 1, s.Outputs[1].Allowed.Abs)
	require.ErrorIs(t, s.Reach([]*array.Array{array.FromSlice([]float32{1, 110}), array.FromSlice([]int8{2})}), certificate.Differs)
	require.ErrorContains(t, s.Reach(nil), "there are 0 outputs, expected 2")
}

func TestCheck(t *testing.T) {
	double := func(in []*array.Array) (any, error) {
		x := tensor.New(in[0])
		return struct {
			Y    *tensor.Tensor
			List []*tensor.Tensor
		}{x.Add(x), []*tensor.Tensor{x}}, nil
	}
	in := certificate.Made(array.F32, []int{4}, 1)
	y, err := double([]*array.Array{in.Value})
	require.NoError(t, err)
	s := certificate.Sample{Name: "four", Inputs: []certificate.Input{in}}
	for _, a := range certificate.Unpack([]any{y}) {
		s.Outputs = append(s.Outputs, certificate.Expect(a))
	}
	path := write(t, &certificate.Certificate{Samples: []certificate.Sample{s}})
	var r recorder
	certificate.Check(&r, path, double)
	require.Empty(t, r.errors)
	require.Len(t, r.logs, 2)
	certificate.Check(&r, path, func(in []*array.Array) (any, error) { return []any{in[0], in[0]}, nil })
	require.Len(t, r.errors, 1)
	require.Contains(t, r.errors[0], "four: output 0 differs: element 0")
	certificate.Check(&r, path, func([]*array.Array) (any, error) { return nil, errors.New("no memory") })
	certificate.Check(&r, path, func([]*array.Array) (any, error) { return nil, nil })
	certificate.Check(&r, path+"x", double)
	certificate.Check(&r, write(t, &certificate.Certificate{}), double)
	require.Len(t, r.errors, 5)
	for i, part := range []string{"element 0", "no memory", "there are 0 outputs, expected 2", "samples.safetensorsx", "has no samples"} {
		require.Contains(t, r.errors[i], part)
	}
}

// Files that were changed are refused, and cost no memory that they do not have.
func TestDamagedFiles(t *testing.T) {
	file := func(meta string, list ...safetensors.Named) []byte {
		var b strings.Builder
		require.NoError(t, safetensors.Write(&b, list, map[string]string{"certificate": meta}))
		return []byte(b.String())
	}
	x := safetensors.Named{Name: "0/in/0", Array: array.New(array.F32, 2)}
	for _, data := range [][]byte{
		file(""), file("{"), file(`{"version":2}`),
		file(`{"version":1,"samples":[{"inputs":[{"dtype":"f33","shape":[2]}]}]}`, x),
		file(`{"version":1,"samples":[{"inputs":[{"dtype":"f32","shape":[-2]}]}]}`, x),
		file(`{"version":1,"samples":[{"inputs":[{"dtype":"f32","shape":[3]}]}]}`, x),
		file(`{"version":1,"samples":[{"inputs":[{"dtype":"f64","shape":[2]}]}]}`, x),
		file(`{"version":1,"samples":[{"inputs":[{"dtype":"f32","shape":[2]},{"dtype":"f32","shape":[2]}]}]}`, x),
		file(`{"version":1,"samples":[{"inputs":[{"dtype":"f32","shape":[1000000000000],"seed":1}]}]}`, x),
		file(`{"version":1,"samples":[{"inputs":[{"dtype":"f32","shape":[4294967296,4294967296],"seed":1}]}]}`, x),
		file(`{"version":1,"samples":[{"inputs":[` + strings.Repeat(`{"dtype":"f64","shape":[67108864],"seed":1},`, 9) + `{"dtype":"f32","shape":[1],"seed":1}]}]}`),
		file(`{"version":1,"samples":[{"outputs":[{"dtype":"f32","shape":[2]}]}]}`, x),
		file(`{"version":1,"samples":[{"outputs":[{"dtype":"f32","shape":[1000000]}]}]}`, safetensors.Named{Name: "0/out/0", Array: array.New(array.F32, 4096)}),
	} {
		_, err := certificate.Read(data)
		require.ErrorIs(t, err, certificate.Damaged, "%s", data)
	}
	_, err := certificate.Read([]byte("nothing"))
	require.Error(t, err)
}
