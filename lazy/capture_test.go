package lazy_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/lazy"
	"github.com/gofx-dev/gofx/tensor"
)

func numbers(v ...float32) *tensor.Tensor { return tensor.FromSlice(v) }

func weights(v ...float32) *tensor.Tensor { return numbers(v...).MulScalar(1) }

// captured runs code under Capture.
func captured(t *testing.T, data, frozen []*tensor.Tensor, code func() []*tensor.Tensor) (*lazy.Captured, []*tensor.Tensor) {
	t.Helper()
	s := lazy.New(lazy.Options{})
	defer s.Close()
	var made []*tensor.Tensor
	c, err := s.Capture(lazy.Code{Data: data, Frozen: frozen, Run: func() { made = code() }, Found: func() ([]*tensor.Tensor, bool) { return made, true }})
	require.NoError(t, err)
	for _, x := range append(append(made, data...), frozen...) {
		require.Nil(t, x.Engine(), "all are eager in the end")
	}
	return c, made
}

func TestCapture(t *testing.T) {
	x, y, w := numbers(1, 2), numbers(3, 4), weights(5, 6)
	c, made := captured(t, []*tensor.Tensor{x, y}, []*tensor.Tensor{w}, func() []*tensor.Tensor { return []*tensor.Tensor{y.Mul(w), x.Narrow(0, 1, 1), tensor.Zeros(2)} })
	require.Empty(t, c.Why)
	require.Equal(t, []int{1}, c.Reads, "the graph needs y alone")
	require.Empty(t, c.Writes)
	require.Len(t, c.Results, 1)
	require.Equal(t, []float32{15, 24}, array.Data[float32](c.Results[0]))
	require.Equal(t, []float32{15, 24}, tensor.Data[float32](made[0]))
	require.Equal(t, 0, c.Found[0].Value.Result)
	require.Equal(t, []int{-1, 0, -1}, []int{c.Found[0].Memory, c.Found[1].Memory, c.Found[2].Memory})
	require.Equal(t, []float32{9}, array.Data[float32](array.Contiguous(c.Found[1].Show(array.FromSlice([]float32{8, 9})))))
	require.Equal(t, []float32{0, 0}, array.Data[float32](c.Found[2].Value.Array))
	x.AddScalarInPlace(1)
	require.Equal(t, []float32{3}, tensor.Data[float32](made[1]), "a view shows what is written later")
}

func TestCaptureOfWrites(t *testing.T) {
	x, y := numbers(1, 2), numbers(3, 4)
	c, made := captured(t, []*tensor.Tensor{x, y}, nil, func() []*tensor.Tensor {
		before := x.Neg()
		x.AddInPlace(y)
		x.Narrow(0, 0, 1).MulInPlace(numbers(10))
		return []*tensor.Tensor{before}
	})
	require.Empty(t, c.Why)
	require.Len(t, c.Writes, 1)
	require.Equal(t, 0, c.Writes[0].Tensor)
	require.Equal(t, []float32{40, 6}, tensor.Data[float32](x))
	require.Equal(t, []float32{-1, -2}, tensor.Data[float32](made[0]))
}

func TestCaptureRefuses(t *testing.T) {
	hidden := numbers(7, 8)
	for name, c := range map[string]struct {
		code func(x *tensor.Tensor) *tensor.Tensor
		why  string
	}{
		"item":   {func(x *tensor.Tensor) *tensor.Tensor { return x.MulScalar(x.Sum().Item()) }, "Item looks at data"},
		"data":   {func(x *tensor.Tensor) *tensor.Tensor { tensor.Data[float32](x)[0] = 3; return x.Neg() }, "Data looks at data"},
		"hidden": {func(x *tensor.Tensor) *tensor.Tensor { return x.Add(hidden) }, "a tensor takes part that was made before the call, and that the table does not lead to"},
		"result": {func(x *tensor.Tensor) *tensor.Tensor { return hidden }, "a tensor of a result or store shows memory that others have"},
		"size":   {func(x *tensor.Tensor) *tensor.Tensor { return x.Nonzero() }, "nonzero makes a tensor whose size depends on data"},
	} {
		t.Run(name, func(t *testing.T) {
			x := numbers(1, 2)
			want := numbers(1, 2)
			wanted := c.code(want)
			got, made := captured(t, []*tensor.Tensor{x}, nil, func() []*tensor.Tensor { return []*tensor.Tensor{c.code(x)} })
			require.Equal(t, c.why, got.Why)
			require.True(t, wanted.Equal(made[0]), "the run is right all the same")
			require.True(t, want.Equal(x))
		})
	}
}

func TestCaptureOfMistakes(t *testing.T) {
	s := lazy.New(lazy.Options{})
	defer s.Close()
	x, at := numbers(1, 2), tensor.FromSlice([]int64{9})
	var made *tensor.Tensor
	_, err := s.Capture(lazy.Code{Data: []*tensor.Tensor{x, at}, Run: func() { x.AddScalarInPlace(1); made = x.IndexSelect(at, 0) }, Found: func() ([]*tensor.Tensor, bool) { return []*tensor.Tensor{made}, true }})
	require.ErrorContains(t, err, "capture_test.go:")
	require.Equal(t, []float32{1, 2}, tensor.Data[float32](x), "nothing is written")
	require.Panics(t, func() {
		_, _ = s.Capture(lazy.Code{Data: []*tensor.Tensor{x}, Run: func() { x.AddScalarInPlace(1); panic("stop") }, Found: func() ([]*tensor.Tensor, bool) { return nil, true }})
	})
	require.Nil(t, x.Engine())
	require.Equal(t, []float32{2, 3}, tensor.Data[float32](x), "what was written before a panic is there")
	var d *diag.Error
	require.ErrorAs(t, err, &d)
}

// What a tensor is for is noted, and a parameter that the code makes is a constant of its own.
func TestCaptureOfParameters(t *testing.T) {
	x := numbers(1, 2)
	c, made := captured(t, []*tensor.Tensor{x}, nil, func() []*tensor.Tensor {
		w := tensor.Ones(2)
		w.MarkParam()
		y := x.Add(w)
		y.Freeze(true)
		return []*tensor.Tensor{w, y}
	})
	require.Empty(t, c.Why)
	require.Equal(t, []bool{true, false, false, true}, []bool{c.Found[0].Param, c.Found[0].Frozen, c.Found[1].Param, c.Found[1].Frozen})
	made[0].AddScalarInPlace(5)
	for _, p := range c.Module.Params() {
		require.Equal(t, []float32{1, 1}, array.Data[float32](p.Value))
	}
}

// Where tensors may stay that found does not return, all that the code has made are eager in the end, and those over
// one memory still are.
func TestCapture_whatNobodyFinds(t *testing.T) {
	for name, stop := range map[string]bool{"returns": false, "panics": true} {
		t.Run(name, func(t *testing.T) {
			s := lazy.New(lazy.Options{})
			x := numbers(1, 2)
			kept := map[string]*tensor.Tensor{}
			run := func(x *tensor.Tensor) {
				y := x.MulScalar(3)
				kept["y"], kept["part"], kept["sum"] = y, y.Narrow(0, 1, 1), y.Sum()
				top, _ := y.Topk(1, 0)
				kept["top"] = top
				x.AddScalarInPlace(1)
				kept["view"] = x.Narrow(0, 0, 1)
				if stop {
					panic("stop")
				}
			}
			capture := func() {
				c, err := s.Capture(lazy.Code{Data: []*tensor.Tensor{x}, Run: func() { run(x) }, Found: func() ([]*tensor.Tensor, bool) { return nil, false }})
				require.NoError(t, err)
				require.Equal(t, "a tensor that the code made may stay where no walk leads", c.Why)
			}
			if stop {
				require.PanicsWithValue(t, "stop", capture)
			} else {
				capture()
			}
			require.NoError(t, s.Close())
			text := map[string]string{"y": "tensor([3., 6.])", "part": "tensor([6.])", "sum": "tensor(9.)", "top": "tensor([6.])", "view": "tensor([2.])"}
			for k, want := range text {
				require.Nil(t, kept[k].Engine(), k)
				require.Equal(t, want, kept[k].String(), k)
			}
			kept["y"].AddScalarInPlace(1)
			require.Equal(t, []float32{4, 7}, tensor.Data[float32](kept["y"]))
			if !stop {
				require.Equal(t, []float32{7}, tensor.Data[float32](kept["part"]), "a view stays one")
				kept["view"].AddScalarInPlace(1)
				require.Equal(t, []float32{3, 3}, tensor.Data[float32](x))
			}
		})
	}
}
