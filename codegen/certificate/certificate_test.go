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
		file(`{"version":1,"samples":[{"inputs":[{"from":1}]}]}`, x),
		file(`{"version":1,"samples":[{"continues":true,"inputs":[{"from":1}]}]}`, x),
		file(`{"version":1,"samples":[{"name":"a"},{"continues":true,"inputs":[{"from":1}]}]}`, x),
		file(`{"version":1,"samples":[{"name":"a"},{"continues":true,"inputs":[{"from":-1}]}]}`, x),
		file(`{"version":1,"samples":[{"inputs":[{"dtype":"f32","shape":[2],"packed":true}]}]}`, x),
		file(`{"version":1,"samples":[{"inputs":[{"dtype":"f32","shape":[2],"packed":true}]}]}`, safetensors.Named{Name: "0/in/0", Array: array.New(array.U8, 9)}),
		file(`{"version":1,"samples":[{"inputs":[{"dtype":"f32","shape":[1000000000000],"packed":true}]}]}`, safetensors.Named{Name: "0/in/0", Array: array.New(array.U8, 9)}),
		file(`{"version":1,"samples":[{"outputs":[{"dtype":"f32","shape":[1000000]}]}]}`, safetensors.Named{Name: "0/out/0", Array: array.New(array.F32, 4096)}),
	} {
		_, err := certificate.Read(data)
		require.ErrorIs(t, err, certificate.Damaged, "%s", data)
	}
	_, err := certificate.Read([]byte("nothing"))
	require.Error(t, err)
}

// Where nothing is found, all results are noise about 0, and other processors make other noise.
func TestNoiseAboutZero(t *testing.T) {
	blank := certificate.Expect(array.New(array.F32, 3))
	_, err := blank.Compare(array.FromSlice([]float32{1.4e-8, 0, -9e-8}))
	require.NoError(t, err)
	_, err = blank.Compare(array.FromSlice([]float32{0, 1e-5, 0}))
	require.ErrorIs(t, err, certificate.Differs)

	tiny := func() *certificate.Sample {
		return &certificate.Sample{Outputs: []certificate.Output{certificate.Expect(array.FromSlice([]float32{3e-10, 0, -2e-9}))}}
	}
	s := tiny()
	require.NoError(t, s.Reach([]*array.Array{array.FromSlice([]float32{1.4e-8, 0, -2e-9})}))
	require.EqualValues(t, 1e-6, s.Outputs[0].Allowed.Abs)
	_, err = s.Compare([]*array.Array{array.FromSlice([]float32{-5e-8, 3e-8, 0})})
	require.NoError(t, err)
	s = tiny()
	require.NoError(t, s.Reach([]*array.Array{array.FromSlice([]float32{3e-10, 0, -2e-9})}))
	require.Less(t, s.Outputs[0].Allowed.Abs, 1e-12, "small numbers that are computed well stay numbers")
	require.ErrorIs(t, tiny().Reach([]*array.Array{array.FromSlice([]float32{1e-5, 0, 0})}), certificate.Differs)
	for _, d := range []array.DType{array.F64, array.F16, array.BF16} {
		o := certificate.Expect(array.New(d, 2))
		require.Positive(t, o.Allowed.Abs, d)
	}
	whole := certificate.Expect(array.New(array.I32, 2))
	require.Zero(t, whole.Allowed.Abs)
}

// Pictures are compressed unless that makes them larger.
func TestLargeInputs(t *testing.T) {
	picture := array.New(array.F32, 3, 200, 200)
	for i := range picture.Len() {
		array.SetFloat64At(picture, i, float64(i*i%256)/255)
	}
	noise := certificate.Made(array.F32, []int{3, 100, 100}, 7).Value
	strided := array.Permute(picture, 2, 1, 0)
	c := &certificate.Certificate{Samples: []certificate.Sample{{Name: "a", Inputs: []certificate.Input{{Value: picture}, {Value: noise}, {Value: strided}, {Value: array.New(array.F64, 0, 4)}},
		Outputs: []certificate.Output{certificate.Expect(waves(3))}}}}
	data, err := c.Bytes()
	require.NoError(t, err)
	require.Less(t, len(data), (picture.Len()+noise.Len())*4, "each picture takes less than half of its bytes")
	again, err := certificate.Read(data)
	require.NoError(t, err)
	for i, in := range c.Samples[0].Inputs {
		require.True(t, array.Equal(in.Value, again.Samples[0].Inputs[i].Value), i)
	}
	second, err := again.Bytes()
	require.NoError(t, err)
	require.Equal(t, data, second)
}

// Steps are calls of one model, and results of one call are inputs of the next.
func TestSteps(t *testing.T) {
	x := func(v float32) certificate.Input { return certificate.Input{Value: array.FromSlice([]float32{v})} }
	want := func(v float32) certificate.Output { return certificate.Expect(array.FromSlice([]float32{v})) }
	// y = x + h + n, where n counts the calls; y and 2y are returned, and 2y is the next h.
	path := write(t, &certificate.Certificate{Samples: []certificate.Sample{
		{Name: "one", Inputs: []certificate.Input{x(1), x(0)}, Outputs: []certificate.Output{want(2), want(4)}},
		{Name: "two", Continues: true, Inputs: []certificate.Input{x(1), {From: 2}}, Outputs: []certificate.Output{want(7), want(14)}},
		{Name: "three", Continues: true, Inputs: []certificate.Input{x(0), {From: 1}}, Outputs: []certificate.Output{want(10), want(20)}},
		{Name: "again", Inputs: []certificate.Input{x(1), x(0)}, Outputs: []certificate.Output{want(2), want(4)}},
	}})
	starts := 0
	model := func(broken bool) func() (certificate.Call, error) {
		return func() (certificate.Call, error) {
			starts++
			n := 0
			out := []*array.Array{array.New(array.F32, 1), array.New(array.F32, 1)} // used again by each call
			return func(in []*array.Array) (any, error) {
				if n++; broken && n == 2 {
					return nil, errors.New("no second call")
				}
				y := array.Float64At(in[0], 0) + array.Float64At(in[1], 0) + float64(n)
				array.SetFloat64At(out[0], 0, y)
				array.SetFloat64At(out[1], 0, 2*y)
				return out, nil
			}, nil
		}
	}
	var r recorder
	certificate.CheckSteps(&r, path, model(false))
	require.Empty(t, r.errors)
	require.Len(t, r.logs, 8)
	require.Equal(t, 2, starts)

	r = recorder{}
	certificate.CheckSteps(&r, path, model(true))
	require.Equal(t, []string{"two: no second call"}, r.errors, "what continues a call that failed is not called")
	r = recorder{}
	certificate.CheckSteps(&r, path, func() (certificate.Call, error) { return nil, errors.New("no model") })
	require.Equal(t, []string{"one: no model", "again: no model"}, r.errors)
	r = recorder{}
	call, err := model(false)()
	require.NoError(t, err)
	certificate.Check(&r, path, call) // a result that is never reused
	require.Len(t, r.errors, 1)
	require.Contains(t, r.errors[0], "again: ")
}
