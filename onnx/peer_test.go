package onnx_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/graph"
	pb "github.com/gofx-dev/gofx/internal/onnxpb"
	"github.com/gofx-dev/gofx/internal/testkit/ort"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/onnx"
)

// peerRun returns ONNX Runtime's results, or the reason why it has none.
func peerRun(t *testing.T, o *ort.Runtime, model []byte, inputs map[string]*array.Array) ([]*array.Array, string) {
	t.Helper()
	results, err := o.Run(ort.Model{Data: model, Plain: true}, inputs)
	var refused ort.Refusal
	if errors.As(err, &refused) {
		return nil, string(refused)
	}
	require.NoError(t, err)
	return results[0], ""
}

// dense is a tensor with bytes of its own.
func dense(d array.DType, dims []int, data []byte) *array.Array {
	a := array.New(d, dims...)
	copy(array.Bytes(a), data)
	return a
}

// draws are the generators of models.
var draws = []func(*recipe){drawConvChain, drawProductChain, drawConv, drawConvTranspose, drawPool, drawGlobalPool, drawNorm, drawResize, drawGridSample, drawRecurrent, drawSlice, drawPad, drawGather,
	drawScatter, drawShapes, drawBlocks, drawPick, drawEinsum, drawBinary, drawUnary, drawReduce, drawSoftmax, drawMatMul, drawQuant,
	drawAttention, drawMultiHead, drawGroupQuery, drawNBits, drawFused, drawQuantised}

// Models of one node with random attributes give ONNX Runtime's results, or are
// refused.
func TestModelsAsONNXRuntime(t *testing.T) {
	o := ort.Start(t)
	rounds := 300
	if os.Getenv("GOFX_NIGHTLY") == "1" {
		rounds = 20000
	}
	if s := os.Getenv("GOFX_ROUNDS"); s != "" {
		fmt.Sscan(s, &rounds)
	}
	seed := uint64(1)
	if s := os.Getenv("GOFX_SEED"); s != "" {
		fmt.Sscan(s, &seed)
	}
	count := map[string]int{}
	for i := range rounds {
		r := newRecipe(rand.New(rand.NewPCG(seed, uint64(i))))
		r.large = r.chance(4)
		draws[i%len(draws)](r)
		if r.drop {
			count["left out"]++
			continue
		}
		data := pb.Append(nil, r.model)
		want, refused := peerRun(t, o, data, r.inputs)
		got, err := r.ours(data)
		name := fmt.Sprintf("%d %s", i, r)
		switch {
		case refused != "" && err != nil:
			count["both refuse"]++
		case refused != "":
			count["ONNX Runtime refuses"]++
			if os.Getenv("GOFX_SHOW") != "" {
				t.Log(name, "theirs:", refused)
			}
		case err != nil:
			count["refused"]++
			t.Log(name, "refused:", err)
		default:
			count["the same"]++
			for engine, list := range got {
				if why := r.differ(list, want); why != "" {
					count["the same"]--
					t.Error(name, engine, why)
				}
			}
		}
	}
	t.Log(count)
}

func (r *recipe) String() string {
	s := fmt.Sprintf("%s-%d(", r.node.Op, r.opset)
	for i, n := range r.node.Inputs {
		if i > 0 {
			s += ", "
		}
		if a := r.inputs[n]; a != nil {
			s += fmt.Sprint(a.DType(), a.Shape())
		} else {
			s += n
			for _, c := range r.model.Graph.Initializers {
				if c.Name == n {
					s += fmt.Sprint(c.Type, c.Dims)
					if c.Type == pb.Int64 && len(c.Raw) < 100 {
						s += fmt.Sprint(array.Data[int64](dense(array.I64, []int{len(c.Raw) / 8}, c.Raw)))
					}
				}
			}
		}
	}
	s += ")"
	for _, a := range r.node.Attrs {
		switch a.Type {
		case pb.AttrInt:
			s += fmt.Sprintf(" %s=%d", a.Name, a.I)
		case pb.AttrFloat:
			s += fmt.Sprintf(" %s=%g", a.Name, a.F)
		case pb.AttrString:
			s += fmt.Sprintf(" %s=%s", a.Name, a.S)
		case pb.AttrStrings:
			s += fmt.Sprintf(" %s=%q", a.Name, a.Strings)
		case pb.AttrInts:
			s += fmt.Sprintf(" %s=%d", a.Name, a.Ints)
		}
	}
	for _, n := range r.model.Graph.Nodes[1:] {
		s += fmt.Sprintf(" %s%q", n.Op, n.Inputs)
	}
	return s
}

// ours computes a model in the engines of this process.
func (r *recipe) ours(data []byte) (map[string][]*array.Array, error) {
	f, err := onnx.Parse(data, "model.onnx")
	if err != nil {
		return nil, err
	}
	m, bound, err := f.ImportFor(r.inputs, onnx.Options{})
	if err != nil {
		return nil, err
	}
	args := f.Args(onnx.Sample{Inputs: r.inputs}, bound)
	out := map[string][]*array.Array{}
	if out["interp"], err = fx.NewGraphModule(m).RunArrays(context.Background(), args); err != nil {
		return nil, err
	}
	e, err := cpu.Compile(graph.Clone(m), lowering.Options{})
	if err != nil {
		return nil, err
	}
	defer e.Close()
	if out["plan"], err = e.Run(context.Background(), args); err != nil {
		return nil, err
	}
	return out, nil
}

func (r *recipe) differ(got, want []*array.Array) string {
	_, err := onnx.Sample{Outputs: want}.Check(got, onnx.Tolerance{Rel: r.tol, Abs: r.tol})
	if err != nil {
		return err.Error()
	}
	return ""
}
