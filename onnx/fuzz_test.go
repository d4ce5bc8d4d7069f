package onnx

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	pb "github.com/gofx-dev/gofx/internal/onnxpb"
)

// importSafely imports a file that may be anything: an error has a code, and is none of
// gofx's own; a panic goes on.
func importSafely(t testing.TB, data []byte) {
	f, err := Parse(data, "m.onnx")
	if err == nil {
		var m *graph.Module
		if m, err = f.Import(Options{}); err == nil {
			err = graph.Lint(m.Graph).Err()
		}
	}
	require.NotErrorIs(t, err, diag.Internal, "%v", err)
}

// FuzzImport mutates the bytes of valid and of hostile files.
func FuzzImport(f *testing.F) {
	for _, s := range seedModels {
		f.Add(seedFile(f, s))
	}
	for _, h := range hostileFiles(f) {
		if b := h.bytes(f); len(b) < 1<<16 {
			f.Add(b)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) { importSafely(t, data) })
}

// FuzzMutate mutates the messages of valid files: well-formed files that make no sense.
func FuzzMutate(f *testing.F) {
	f.Add(uint64(1))
	f.Fuzz(func(t *testing.T, seed uint64) { importSafely(t, mutated(t, seed)) })
}

func TestMutated(t *testing.T) {
	n := uint64(2000)
	if testing.Short() {
		n = 300
	}
	for seed := range n {
		if !t.Run("", func(t *testing.T) {
			defer func() {
				if t.Failed() {
					t.Log("seed ", seed)
				}
			}()
			importSafely(t, mutated(t, seed))
		}) {
			return
		}
	}
}

func seedFile(t testing.TB, src string) []byte {
	h := hostile{name: "seed", recipe: src}
	return h.bytes(t)
}

// mutated is a valid file with a few changes that keep it well-formed.
func mutated(t testing.TB, seed uint64) []byte {
	r := rand.New(rand.NewPCG(seed, 1))
	m := &pb.Model{}
	require.NoError(t, pb.Read(seedFile(t, seedModels[r.IntN(len(seedModels))]), m))
	u := mutator{Rand: r, model: m}
	for range 1 + r.IntN(4) {
		u.change()
	}
	return pb.Append(nil, m)
}

type mutator struct {
	*rand.Rand
	model *pb.Model
}

var extremes = []int64{0, 1, -1, 2, -2, 3, 7, 64, 65, 1 << 10, 1<<31 - 1, 1 << 31, 1 << 32, 1 << 40, 1 << 61, 1 << 62,
	math.MaxInt64, math.MinInt64, math.MinInt64 + 1}

func (u *mutator) number() int64 { return extremes[u.IntN(len(extremes))] }

// graph is the model's graph, or a body.
func (u *mutator) graph() *pb.Graph {
	g := u.model.Graph
	for _, n := range g.Nodes {
		for _, a := range n.Attrs {
			if a.G != nil && u.IntN(2) == 0 {
				g = a.G
			}
		}
	}
	return g
}

func pick[T any](u *mutator, list []T) (v T, ok bool) {
	if len(list) == 0 {
		return v, false
	}
	return list[u.IntN(len(list))], true
}

func (u *mutator) change() {
	g := u.graph()
	if n, ok := pick(u, g.Nodes); ok && u.IntN(3) > 0 {
		u.node(g, n)
		return
	}
	switch u.IntN(5) {
	case 0:
		if v, ok := pick(u, append(slices.Clone(g.Inputs), g.Outputs...)); ok && v.Type.Tensor.Shape != nil {
			if d, ok := pick(u, v.Type.Tensor.Shape.Dims); ok {
				d.Known, d.Size = true, u.number()
			} else {
				v.Type.Tensor.Shape = nil
			}
		}
	case 1:
		if v, ok := pick(u, g.Inputs); ok {
			v.Type.Tensor.Elem = pb.DataType(u.IntN(28))
		}
	case 2:
		if w, ok := pick(u, g.Initializers); ok {
			u.tensor(w)
		}
	case 3:
		u.model.Opsets[0].Version = int64(u.IntN(30))
	case 4:
		if v, ok := pick(u, g.Inputs); ok {
			v.Type.Tensor.Shape = &pb.Shape{}
			for range u.IntN(6) {
				v.Type.Tensor.Shape.Dims = append(v.Type.Tensor.Shape.Dims, &pb.Dim{Param: string(rune('a' + u.IntN(3)))})
			}
		}
	}
}

func (u *mutator) tensor(w *pb.Tensor) {
	switch u.IntN(4) {
	case 0:
		if len(w.Int64s) > 0 {
			w.Int64s[u.IntN(len(w.Int64s))] = u.number()
		}
	case 1:
		w.Dims = append(w.Dims, u.number())
	case 2:
		w.Dims, w.Int64s, w.Int32s, w.Floats = []int64{0}, nil, nil, nil
	case 3:
		w.Type = pb.DataType(u.IntN(28))
	}
}

func (u *mutator) node(g *pb.Graph, n *pb.Node) {
	switch u.IntN(6) {
	case 0: // another operator on the same operands
		var names []string
		for _, o := range Operators() { // in their order
			if o.Domain == "" {
				names = append(names, o.Name)
			}
		}
		n.Op = names[u.IntN(len(names))]
		if u.IntN(2) == 0 {
			n.Attrs = nil
		}
	case 1:
		names := append(namesOf(g), "")
		n.Inputs = append(n.Inputs, names[u.IntN(len(names))])
	case 2:
		if len(n.Inputs) > 0 {
			names := append(namesOf(g), "")
			n.Inputs[u.IntN(len(n.Inputs))] = names[u.IntN(len(names))]
		}
	case 3:
		if len(n.Inputs) > 0 {
			n.Inputs = n.Inputs[:len(n.Inputs)-1]
		}
	case 4:
		if a, ok := pick(u, n.Attrs); ok {
			a.I = u.number()
			if len(a.Ints) > 0 {
				a.Ints[u.IntN(len(a.Ints))] = u.number()
			}
		}
	case 5:
		attrs := []string{"axis", "axes", "group", "kernel_shape", "strides", "pads", "dilations", "num_heads", "to", "size", "k",
			"hidden_size", "num_outputs", "keepdims", "perm", "blocksize", "block_size", "num_groups", "q_num_heads", "kv_num_heads", "batch_dims"}
		a := &pb.Attr{Name: attrs[u.IntN(len(attrs))], Type: pb.AttrInt, I: u.number()}
		if u.IntN(2) == 0 {
			a.Type, a.Ints = pb.AttrInts, []int64{u.number(), u.number()}
		}
		n.Attrs = append(n.Attrs, a)
	}
}

func namesOf(g *pb.Graph) (names []string) {
	for _, v := range g.Inputs {
		names = append(names, v.Name)
	}
	for _, w := range g.Initializers {
		names = append(names, w.Name)
	}
	for _, n := range g.Nodes {
		names = append(names, n.Outputs...)
	}
	return names
}
