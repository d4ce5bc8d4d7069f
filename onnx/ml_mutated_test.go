package onnx

import (
	"context"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/diag"
	pb "github.com/gofx-dev/gofx/internal/onnxpb"
	"github.com/gofx-dev/gofx/interp"
)

// TestMutatedLearning changes the lists that trees and machines consist of: an
// imported model can be run, and no error is a bug of gofx's own.
func TestMutatedLearning(t *testing.T) {
	cases := readORT(t, "testdata/ort/ml.txt")
	rounds := 6
	if testing.Short() {
		rounds = 1
	}
	ran := 0
	for i, c := range cases {
		whole := pb.Append(nil, c.model)
		for round := range rounds {
			m := &pb.Model{}
			require.NoError(t, pb.Read(whole, m))
			u := mutator{Rand: rand.New(rand.NewPCG(uint64(i), uint64(round))), model: m}
			n := m.Graph.Nodes[0]
			for range 1 + u.IntN(2) {
				if a, ok := pick(&u, n.Attrs); ok {
					u.learning(a)
				}
			}
			f, err := Parse(pb.Append(nil, m), "model.onnx")
			require.NoError(t, err)
			mod, err := f.Import(Options{})
			require.NotErrorIs(t, err, diag.Internal, "%s, round %d: %v", c.name, round, err)
			if err != nil {
				continue
			}
			p := interp.Interpreter{State: interp.NewState(mod)}
			_, err = p.RunArrays(context.Background(), f.Args(Sample{Inputs: c.given}, nil))
			require.NotErrorIs(t, err, diag.Internal, "%s, round %d: %v", c.name, round, err)
			ran++
		}
	}
	require.Greater(t, ran, len(cases)*rounds/10)
}

// learning changes an attribute.
func (u *mutator) learning(a *pb.Attr) {
	switch {
	case len(a.Ints) > 0:
		switch k := u.IntN(len(a.Ints)); u.IntN(4) {
		case 0:
			a.Ints = a.Ints[:k]
		case 1:
			a.Ints[k] += int64(u.IntN(3) - 1)
		case 2:
			a.Ints = append(a.Ints, u.number())
		default:
			a.Ints[k] = u.number()
		}
	case len(a.Floats) > 0:
		k := u.IntN(len(a.Floats) / 4)
		odd := []float64{math.NaN(), math.Inf(1), math.Inf(-1), 0, -1, 1e38}
		if u.IntN(3) == 0 {
			a.Floats = a.Floats[:4*k]
		} else {
			binary.LittleEndian.PutUint32(a.Floats[4*k:], math.Float32bits(float32(odd[u.IntN(len(odd))])))
		}
	case len(a.Strings) > 0:
		a.Strings[u.IntN(len(a.Strings))] = a.Strings[u.IntN(len(a.Strings))]
	case a.T != nil:
		u.tensor(a.T)
	default:
		a.I, a.S = u.number(), nil
	}
}
