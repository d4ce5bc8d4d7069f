package kernel_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/kernel"
)

// call runs f as generated code does and returns the call's error.
func call(s *kernel.Frame, f func()) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = s.Failure(r)
		}
	}()
	f()
	return nil
}

func TestFrameLaysValuesOut(t *testing.T) {
	var s kernel.Frame
	require.False(t, s.Ready())
	var a, b array.Array
	s.Arena(192)
	require.True(t, s.Ready())
	s.Place(&a, 0, array.F32, 2, 16)
	s.Place(&b, 128, array.I64, 8)
	s.Need(100)
	s.Need(40)
	s.Allocate()
	require.Equal(t, int64(292), s.Bytes())
	require.Equal(t, []int{2, 16}, a.Shape())
	require.Same(t, a.Storage(), b.Storage())
	array.Data[int64](&b)[7] = 5
	require.Zero(t, array.Data[float32](&a)[31])

	for name, f := range map[string]func(){
		"past the end":   func() { s.Place(&a, 128, array.I64, 9) },
		"before":         func() { s.Place(&a, -64, array.I64, 1) },
		"beyond":         func() { s.Place(&a, 256, array.I64, 0) },
		"negative":       func() { s.Place(&a, 0, array.I64, -1) },
		"overflow":       func() { s.Place(&a, 0, array.I64, 1<<40, 1<<40) },
		"header":         func() { s.Header(&a, array.I64, 1<<40, 1<<40) },
		"arena":          func() { s.Arena(-1) },
		"floor division": func() { kernel.FloorDiv(1, 0) },
	} {
		require.ErrorIs(t, call(&s, f), kernel.CodeSizes, name)
	}
	s.Arena(64)
	require.Equal(t, int64(64), s.Bytes(), "a new layout forgets the scratch memory of the last")
	require.Equal(t, int64(192+100), s.Held(), "a smaller arena lies in the larger, scratch memory is kept")
}

func TestFrameMeasuresWithoutMemory(t *testing.T) {
	var s kernel.Frame
	var a array.Array
	s.Measure()
	s.Arena(1 << 50)
	s.Place(&a, 1<<40, array.F32, 1<<20)
	s.Need(1 << 50)
	s.Allocate()
	require.False(t, s.Ready())
	require.Equal(t, int64(1<<51), s.Bytes())
	require.Zero(t, s.Held())
	require.Nil(t, a.Storage())
}

func TestFrameStopsAndNamesFailures(t *testing.T) {
	var s kernel.Frame
	ctx, stop := context.WithCancel(context.Background())
	s.Begin(ctx, 3)
	require.Equal(t, 3, s.At("first").Threads)
	err := call(&s, func() { stop(); s.At("second") })
	require.ErrorIs(t, err, context.Canceled)
	require.ErrorIs(t, err, diag.Stopped)

	var settled, body kernel.Frame
	settled.Begin(ctx, 1)
	settled.Settle()
	require.NoError(t, call(&settled, func() {
		settled.At("update")
		body.Enter(&settled)
		body.At("round")
		body.Leave()
	}), "nor do its bodies stop")

	s.Begin(nil, 1)
	s.Within("layers.0.")
	s.At("up")
	text := func(v any) *diag.Error {
		var e *diag.Error
		require.ErrorAs(t, call(&s, func() { panic(v) }), &e)
		return e
	}
	given := diag.New(kernel.CodeSizes, "too large")
	require.Equal(t, "layers.0.up", text(given).Node)
	require.Empty(t, given.Node, "the panic's value stays as it is")
	given.Node = "mine"
	require.Equal(t, "mine", text(given).Node)
	cause := errors.New("cause")
	require.ErrorIs(t, text(cause), cause)
	require.Equal(t, "layers.0.up", text("index out of range").Node)
	require.Contains(t, text(12).Error(), "kernel failed")
	require.ErrorContains(t, call(&s, func() { s.Viewed("view", false) }), "layers.0.view")
	require.NoError(t, call(&s, func() { s.Viewed("view", true) }))

	x := array.New(array.F32, 1)
	in := s.Ins(x, nil)
	require.Equal(t, []*array.Array{x, nil}, in)
	s.End()
	require.Nil(t, in[0], "operands are let go of")
	require.Equal(t, "up", func() string { s.At("up"); return text("fault").Node }(), "the scope ended with the call")
}

func TestFreeListKeepsSome(t *testing.T) {
	l := kernel.NewFreeList[int](1)
	a, b := l.Take(), l.Take()
	require.NotSame(t, a, b)
	l.Give(a)
	l.Give(b)
	require.Same(t, a, l.Take())
	require.NotSame(t, b, l.Take())
	var none kernel.FreeList[int]
	none.Give(a)
	require.NotSame(t, a, none.Take())
}

func TestCheckerCollectsFaults(t *testing.T) {
	var c kernel.Checker
	x := array.New(array.F32, 2, 3)
	c.Input("x", x, array.F32, "f32[N,3]", -1, 3)
	c.Output("y", x, array.F32, 2, 3)
	c.Apart("y", x, array.New(array.F32, 2, 3), nil)
	c.Size("x", x, "N", 0, 2)
	c.Updated("x", x, array.New(array.F32, 2, 3), nil)
	c.Updated("x", nil, x)
	data := make([]float32, 12) // half for each of two arrays
	c.Apart("y", array.DenseOf(data[:6], 2, 3).Array, array.DenseOf(data[6:], 2, 3).Array)
	require.NoError(t, c.Err())

	c.Input("x", nil, array.F32, "f32[N,3]", -1, 3)
	c.Input("x", x, array.F32, "f32[N,4]", -1, 4)
	c.Input("x", x, array.I64, "i64[N,3]", -1, 3)
	c.Input("x", x, array.F32, "f32[N]", -1)
	c.Size("x", x, "N", 0, 5)
	m := kernel.SizeOf{Symbol: "M", Input: "y", Axis: 1, Value: 2}
	c.Guard(x, "required in net.go", kernel.Claim{Rel: kernel.Equal, Op: "add", Input: "x",
		A: kernel.Side{Text: "3", Value: 3}, B: kernel.Side{Text: "2*M", Value: 4, Sizes: []kernel.SizeOf{m}}})
	c.Output("y", nil, array.F32, 2)
	c.Output("y", x, array.F32, 3, 2)
	c.Output("y", array.Permute(x, 1, 0), array.F32, 3, 2)
	c.Apart("y", x, x)
	c.Apart("z", array.DenseOf(data[:6], 2, 3).Array, array.DenseOf(data[5:11], 2, 3).Array)
	c.Updated("x", array.Permute(x, 1, 0))
	c.Updated("x", x, array.New(array.F32, 2), x)
	var list diag.List
	require.ErrorAs(t, c.Err(), &list)
	var got []string
	for _, e := range list {
		if len(got) > 0 {
			require.Equal(t, kernel.CodeArgument, e.Code)
		} else {
			require.Equal(t, kernel.CodeMissing, e.Code)
		}
		got = append(got, e.Msg)
	}
	require.Equal(t, []string{
		`input "x" is missing`, `input "x" is f32[2,3], expected f32[N,4]`, `input "x" is f32[2,3], expected i64[N,3]`,
		`input "x" is f32[2,3], expected f32[N]`, `input "x" is f32[2,3], dimension 0 is expected to be N, which is 5 here`,
		`input "x" is f32[2,3]: add needs 2*M (here 4) equal to 3, where M is axis 1 of "y", here 2`, `output "y" is nil, expected f32[2]`, `output "y" is f32[2,3], expected f32[3,2]`,
		`output "y" is f32[3,2] with gaps, expected f32[3,2] without gaps`, `output "y" is in the memory of an input, expected memory of its own`,
		`output "z" is in the memory of an input, expected memory of its own`,
		`input "x" is f32[3,2] with gaps, and is updated, expected an array without gaps`, `input "x" is in the memory of another input, and is updated, expected memory of its own`,
	}, got)
}

func TestResultsAndFloorDivision(t *testing.T) {
	r, err := kernel.Result[float64](2, 3)
	require.NoError(t, err)
	require.Len(t, r.Data(), 6)
	for _, shape := range [][]int{{-1}, {1 << 40, 1 << 40}, {1 << 60}} {
		_, err := kernel.Result[float64](shape...)
		require.ErrorIs(t, err, kernel.CodeSizes)
	}
	for _, c := range [][3]int{{7, 2, 3}, {-7, 2, -4}, {7, -2, -4}, {-7, -2, 3}, {6, 3, 2}, {-6, 3, -2}, {0, 5, 0}} {
		require.Equal(t, c[2], kernel.FloorDiv(c[0], c[1]), "%d//%d", c[0], c[1])
	}
}

func TestRecoverMakesErrors(t *testing.T) {
	check := func(v any) (err error) {
		defer kernel.Recover(&err)
		if v != nil {
			panic(v)
		}
		return nil
	}
	require.NoError(t, check(nil))
	require.ErrorIs(t, check(diag.New(kernel.CodeSizes, "x")), kernel.CodeSizes)
	require.Error(t, check("x"))
}
