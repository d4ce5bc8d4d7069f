package onnx_test

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/testkit/fxtest"
	"github.com/gofx-dev/gofx/interp"
	"github.com/gofx-dev/gofx/onnx"
	"github.com/gofx-dev/gofx/op"
	_ "github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/shape"
)

// sampleModule is a graph of one call, whose operands are inputs.
func sampleModule(o *op.Op, s op.Sample) (m *graph.Module, in []*array.Array) {
	g := graph.New(o.Name)
	m = graph.NewModule(g)
	cur := g.At()
	args := make([]*graph.Node, len(s.In))
	for i, a := range s.In {
		if a != nil {
			args[i] = cur.Placeholder(fmt.Sprintf("x%d", i), shape.TypeOf(a), nil)
			in = append(in, a)
		}
	}
	n := cur.Function(o, s.Attrs, args...)
	count, tuple := o.NumResults(s.Attrs)
	if !tuple {
		cur.Output(nil, n)
		return m, in
	}
	st := &graph.Structure{Kind: graph.Results}
	var outs []*graph.Node
	for i := range count {
		outs = append(outs, cur.ItemNode(n, i))
		st.Fields = append(st.Fields, graph.Leaf(i))
	}
	cur.Output(st, outs...)
	return m, in
}

// exported is a module as a file.
func exported(m *graph.Module, o onnx.ExportOptions) ([]byte, error) {
	var b bytes.Buffer
	err := onnx.Export(&b, m, o)
	return b.Bytes(), err
}

func imported(data []byte) (*graph.Module, error) {
	f, err := onnx.Parse(data, "again.onnx")
	if err != nil {
		return nil, err
	}
	return f.Import(onnx.Options{})
}

// run interprets a module.
func run(m *graph.Module, in []*array.Array) ([]*array.Array, error) {
	p := &interp.Interpreter{State: interp.NewState(m)}
	return p.RunArrays(context.Background(), in)
}

// An exception is a sample of an operator that does not come back, and why. Samples are named by
// the start of their names, "" for all.
type exception struct{ op, sample, why string }

// notWritten are refused by Export, with a code.
var notWritten = []exception{
	{"adaptive_max_pool1d_with_indices", "", "ONNX's indices are those of windows of one size"},
	{"adaptive_max_pool2d_with_indices", "", "ONNX's indices are those of windows of one size"},
	{"adaptive_max_pool3d_with_indices", "", "ONNX's indices are those of windows of one size"},
	{"avg_pool1d", "i64", "AveragePool is for floats"},
	{"avg_pool2d", "i64", "AveragePool is for floats"},
	{"avg_pool3d", "i64", "AveragePool is for floats"},
	{"embedding_bag", "offsets", "ONNX has no bags that begin at offsets"},
	{"embedding_bag", "weighted offsets", "ONNX has no bags that begin at offsets"},
	{"embedding_bag", "last offset", "ONNX has no bags that begin at offsets"},
	{"embedding_bag", "i32", "ONNX has no bags that begin at offsets"},
	{"embedding_bag", "f64", "ONNX has no bags that begin at offsets"},
	{"embedding_bag", "f16", "ONNX has no bags that begin at offsets"},
	{"max_pool1d", "i64", "MaxPool is for floats and bytes, and none of them has all i64"},
	{"max_pool1d", "windows in the padding, i64", "MaxPool is for floats and bytes, and none of them has all i64"},
	{"max_pool1d_with_indices", "i64", "MaxPool is for floats and bytes, and none of them has all i64"},
	{"max_pool1d_with_indices", "windows in the padding, i64", "MaxPool is for floats and bytes, and none of them has all i64"},
	{"max_pool2d", "i64", "MaxPool is for floats and bytes, and none of them has all i64"},
	{"max_pool2d", "windows in the padding, i64", "MaxPool is for floats and bytes, and none of them has all i64"},
	{"max_pool2d_with_indices", "i64", "MaxPool is for floats and bytes, and none of them has all i64"},
	{"max_pool2d_with_indices", "windows in the padding, i64", "MaxPool is for floats and bytes, and none of them has all i64"},
	{"max_pool3d", "i64", "MaxPool is for floats and bytes, and none of them has all i64"},
	{"max_pool3d", "windows in the padding, i64", "MaxPool is for floats and bytes, and none of them has all i64"},
	{"max_pool3d_with_indices", "i64", "MaxPool is for floats and bytes, and none of them has all i64"},
	{"max_pool3d_with_indices", "windows in the padding, i64", "MaxPool is for floats and bytes, and none of them has all i64"},
	{"nonzero", "0-dimensional", "a number has no places"},
	{"observe", "", "it is part of calibration, not of models"},
	{"q_gru", "", "its states are no quantised values of one operator on floats"},
	{"q_lstm", "", "its states are no quantised values of one operator on floats"},
}

// different come back with other results.
var different = []exception{
	{"max_pool1d_with_indices", "all in the padding", "ONNX does not say which index a window without elements has"},
	{"max_pool2d_with_indices", "all in the padding", "ONNX does not say which index a window without elements has"},
	{"max_pool3d_with_indices", "all in the padding", "ONNX does not say which index a window without elements has"},
}

// excepted reports whether a list has the sample, and notes that it was needed.
func excepted(list []exception, needed map[exception]bool, o *op.Op, s op.Sample) bool {
	for _, e := range list {
		if e.op == o.Name && strings.HasPrefix(s.Name, e.sample) {
			needed[e] = true
			return true
		}
	}
	return false
}

// Every sample of every operator is exported and imported again, with the same results, or is in
// a list of exceptions; those of the lists that are not needed are an error.
func TestEverySampleComesBack(t *testing.T) {
	needed := map[exception]bool{}
	count := 0
	for _, o := range op.All() {
		if o.Structural() || o.Path != "" {
			continue
		}
		for _, s := range o.Samples() {
			count++
			what := o.Name + ", " + s.Name + " " + o.Codec().Print(s.Attrs)
			m, in := sampleModule(o, s)
			data, err := exported(m, onnx.ExportOptions{})
			if excepted(notWritten, needed, o, s) {
				require.ErrorIs(t, err, onnx.CodeExport, what)
				continue
			}
			require.NoError(t, err, what)
			back, err := imported(data)
			require.NoError(t, err, what)
			want, err := run(m, in)
			require.NoError(t, err, what)
			got, err := run(back, in)
			require.NoError(t, err, what)
			d := agree(o, want, got)
			if excepted(different, needed, o, s) {
				require.NotEmpty(t, d, what)
				continue
			}
			require.Empty(t, d, what)
		}
	}
	require.Len(t, needed, len(notWritten)+len(different), "exceptions that are not needed")
	t.Logf("%d samples", count)
}

// agree describes how results differ. Those of 8 bits may be one apart if the
// operator is defined by its equivalent on floats.
func agree(o *op.Op, want, got []*array.Array) string {
	d := fxtest.CloseArrays(want, got)
	if d == "" || !o.HasReference() || len(want) != len(got) {
		return d
	}
	for i, w := range want {
		g := got[i]
		if w.DType() != g.DType() || !slices.Equal(w.Shape(), g.Shape()) || w.DType().Size() != 1 {
			return d
		}
		for k := range w.Len() {
			if x := array.Int64At(w, k) - array.Int64At(g, k); x < -1 || x > 1 {
				return d
			}
		}
	}
	return ""
}
