package compile_test

import (
	"maps"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/compile/state"
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/tensor"
)

type base struct {
	Gain  float64
	Count int8
}

type tree struct {
	base
	W           *tensor.Tensor
	Left, Right *tree
}

func (n *tree) sum(x *tensor.Tensor) *tensor.Tensor {
	if n == nil {
		return x
	}
	if n.Count++; n.Count > 20 { // a ring
		panic("too deep")
	}
	return n.Left.sum(x.Mul(n.W).MulScalar(n.Gain)).Add(n.Right.sum(x))
}

type treeIn struct {
	N *tree
	X *tensor.Tensor
}

var treeTable = state.Table{Func: "tree", Receiver: true, Fields: []state.Field{
	field("base", "Gain", "float64", state.Load), field("base", "Count", "int8", rw), field("tree", "W", tensorName, state.Load),
	field("tree", "Left", "*"+pkg+".tree", state.Load), field("tree", "Right", "*"+pkg+".tree", state.Load)}}

type cells struct {
	P, Q **int
	N    *int
	U    uint16
	C    complex64
	S    []string
	In   []*point
	At   map[int]*point
	Acts []activation
	Text string
	Fn   func(*tensor.Tensor) *tensor.Tensor
	T, V *tensor.Tensor
	Ts   [3]*tensor.Tensor
	F    []float32
}

type cellIn struct {
	C *cells
	X *tensor.Tensor
}

type cellOut struct {
	R  *tensor.Tensor
	P  *point
	N  *int
	S  []string
	T  string
	A  activation
	Xs []*tensor.Tensor
	M  map[int]*point
}

func cellWorld() cellIn {
	n, m := 3, 4
	p, q := &n, &m
	w := vec(1, 2)
	pt := &point{1, 2}
	return cellIn{&cells{P: &p, Q: &q, N: p, U: 2, C: 1 + 2i, S: []string{"a", "b"}[:1], In: []*point{pt, {3, 4}, pt}, At: map[int]*point{1: pt, 2: {5, 6}},
		Acts: []activation{&scaled{2}, shifted(1)}, Text: "t", Fn: double, T: w, V: w, Ts: [3]*tensor.Tensor{vec(1, 2), w, vec(3, 4)}, F: []float32{1, 2}}, vec(5, 6)}
}

// cellTable lists some fields of cells, with all of what they lead to.
func cellTable(a state.Access, fields ...string) state.Table {
	types := map[string]string{"P": "**int", "Q": "**int", "N": "*int", "U": "uint16", "C": "complex64", "S": "[]string", "In": "[]*" + pkg + ".point", "At": "map[int]*" + pkg + ".point",
		"Acts": "[]" + pkg + ".activation", "Text": "string", "Fn": "func(" + tensorName + ") " + tensorName, "T": tensorName, "V": tensorName, "Ts": "[3]" + tensorName, "F": "[]float32"}
	t := state.Table{Func: "cells", Receiver: true, Dynamic: []string{"*" + pkg + ".scaled", pkg + ".shifted"}, Bodies: []state.Body{bodyOf(double), bodyOf(triple)}, Maps: []state.Map{state.MapOf[int, *point]()}, Types: []reflect.Type{reflect.TypeFor[*scaled]()},
		Fields: []state.Field{field("point", "A", "int", rw), field("point", "B", "int", state.Load), field("scaled", "By", "float64", state.Load)}}
	all := a | state.Len | state.Cap
	t.Elems = []state.Elem{{Type: "**int", Access: a}, {Type: "*int", Access: a}, {Type: "[]string", Access: all}, {Type: "[]*" + pkg + ".point", Access: all}, {Type: "map[int]*" + pkg + ".point", Access: a | state.Len},
		{Type: "[]" + pkg + ".activation", Access: all}, {Type: "[3]" + tensorName, Access: a}, {Type: "[]float32", Access: all}}
	for _, f := range fields {
		t.Fields = append(t.Fields, field("cells", f, types[f], a))
	}
	return t
}

// TestEveryWordOfPrograms changes each word of the memory of many programs between calls.
func TestEveryWordOfPrograms(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: 24 programs are called once for each word of their memory")
	}
	programs, hits := modelPrograms(), 0
	maps.Copy(programs, cellPrograms())
	require.Len(t, programs, 24)
	for name, program := range programs {
		t.Run(name, func(t *testing.T) {
			n := program(t)
			t.Log(n, "hits")
			hits += n
		})
	}
	require.Greater(t, hits, 1000)
}

func modelPrograms() map[string]func(t *testing.T) int {
	return map[string]func(t *testing.T) int{
		"network": func(t *testing.T) int { return everyWord(t, networkTable, runNetwork, networkWorld) },
		"list":    func(t *testing.T) int { return everyWord(t, listTable, runList, listWorld) },
		"slices":  func(t *testing.T) int { return everyWord(t, sliceTable, runSlices, sliceWorld) },
		"dynamic": func(t *testing.T) int { return everyWord(t, dynamicTable, runDynamic, dynamicWorld) },
		"writes":  func(t *testing.T) int { return everyWord(t, writeTable, runWrites, writeWorld) },
		"pair": func(t *testing.T) int {
			return everyWord(t, pairTable, addTo, func() pairIn { return pairIn{vec(1, 2), vec(3, 4)} })
		},
		"weight": func(t *testing.T) int {
			return everyWord(t, weightTable, func(in *weightIn, out *twoOut) { out.A, out.B = in.X.Matmul(in.M.W), in.M.W.Neg() }, func() weightIn { return weightIn{&weighted{param(2, 2, 1)}, vec(1, 2, 3, 4).Reshape(2, 2)} })
		},
		"store": func(t *testing.T) int {
			return everyWord(t, dimTable, func(in *dimIn, out *oneOut) { in.M.dim = in.D; out.R = in.X.Neg() }, func() dimIn { return dimIn{&dims{1}, 1, vec(1)} })
		},
		"values": func(t *testing.T) int {
			return everyWord(t, state.Table{Func: "f", Dynamic: []string{pkg + ".point"}}, func(in *valueIn, out *valueOut) { out.P, out.V, out.R = in.P, in.V, in.X.Neg() }, func() valueIn { return valueIn{point{1, 2}, vec(1), point{3, 4}} })
		},
		"dropout": func(t *testing.T) int {
			return everyWord(t, dropTable, func(in *dropIn, out *oneOut) { out.R = in.M.D.Forward(in.X) }, func() dropIn {
				d := nn.NewDropout(0.5, nn.DropoutSeed(3))
				d.SetTraining(true)
				return dropIn{&dropping{d}, tensor.Ones(4, 8)}
			})
		},
		"tree": func(t *testing.T) int {
			return everyWord(t, treeTable, func(in *treeIn, out *oneOut) { out.R = in.N.sum(in.X) }, func() treeIn {
				w := param(1, 2, 1)
				shared := &tree{base{2, 1}, w, nil, nil}
				return treeIn{&tree{base{0.5, 0}, w, shared, &tree{base{3, 2}, param(1, 2, 4), nil, shared}}, vec(1, 2)}
			})
		},
	}
}

// cell is a program of cells.
func cell(table state.Table, run func(c *cells, x *tensor.Tensor, out *cellOut)) func(t *testing.T) int {
	return func(t *testing.T) int {
		return everyWord(t, table, func(in *cellIn, out *cellOut) {
			run(in.C, in.X, out)
			if out.R == nil {
				out.R = in.X.Neg()
			}
		}, cellWorld)
	}
}

func cellPrograms() map[string]func(t *testing.T) int {
	inPlace := func(table state.Table) state.Table { table.InPlace = pairTable.InPlace; return table }
	return map[string]func(t *testing.T) int{
		"pointers": cell(cellTable(rw, "P", "Q", "N"), func(c *cells, x *tensor.Tensor, out *cellOut) {
			out.N, out.R = *c.P, x.MulScalar(float64(**c.Q))
			*c.N += 0
			c.P, c.Q = c.Q, c.P
		}),
		"through pointers": cell(cellTable(rw, "P", "N"), func(c *cells, x *tensor.Tensor, out *cellOut) { **c.P = *c.N; *c.P = c.N }),
		"small words": cell(cellTable(rw, "U", "C", "Text"), func(c *cells, x *tensor.Tensor, out *cellOut) {
			c.U, c.C = c.U*2, c.C*c.C
			out.T, out.R = c.Text+"!", x.AddScalar(float64(real(c.C)))
		}),
		"strings": cell(cellTable(rw, "S"), func(c *cells, x *tensor.Tensor, out *cellOut) {
			out.T = strings.Join(c.S, ",")
			c.S = append(c.S, "more")
			out.S = c.S
		}),
		"shared points": cell(cellTable(rw, "In"), func(c *cells, x *tensor.Tensor, out *cellOut) {
			for _, p := range c.In {
				p.A += p.B
			}
			out.P = c.In[0]
			c.In[0], c.In[len(c.In)-1] = c.In[len(c.In)-1], &point{B: c.In[0].B}
		}),
		"map of pointers": cell(cellTable(rw, "At"), func(c *cells, x *tensor.Tensor, out *cellOut) {
			if p := c.At[1]; p != nil {
				out.P, c.At[7] = p, p
				p.A++
			}
			delete(c.At, 2)
			out.R = x.MulScalar(float64(len(c.At)))
		}),
		"activations": cell(cellTable(rw, "Acts"), func(c *cells, x *tensor.Tensor, out *cellOut) {
			for _, a := range c.Acts {
				x = a.apply(x)
			}
			out.R, out.A = x, c.Acts[0]
			c.Acts[0], c.Acts[1] = c.Acts[1], c.Acts[0]
		}),
		"functions": cell(cellTable(rw, "Fn"), func(c *cells, x *tensor.Tensor, out *cellOut) { out.R = c.Fn(x); c.Fn = nil }),
		"tied": cell(inPlace(cellTable(rw, "T", "V")), func(c *cells, x *tensor.Tensor, out *cellOut) {
			out.R = x.Mul(c.T).Add(c.V)
			c.T.AddInPlace(x)
			out.Xs = []*tensor.Tensor{c.T, c.V, out.R}
		}),
		"rotated": cell(cellTable(rw, "Ts"), func(c *cells, x *tensor.Tensor, out *cellOut) {
			c.Ts[0], c.Ts[1], c.Ts[2] = c.Ts[1], c.Ts[2], c.Ts[0].Add(x)
			out.R = c.Ts[2]
		}),
		"views": cell(cellTable(state.Load, "T"), func(c *cells, x *tensor.Tensor, out *cellOut) {
			y := x.Neg()
			out.Xs = []*tensor.Tensor{x.Narrow(0, 0, 1), y.Narrow(0, 0, 1), y, c.T.Narrow(0, 1, 1), x, c.T}
		}),
		"numbers of a slice": cell(cellTable(state.Load, "F"), func(c *cells, x *tensor.Tensor, out *cellOut) {
			for _, f := range c.F {
				x = x.AddScalar(float64(f))
			}
			out.R = x.Add(tensor.FromSlice(c.F).Sum())
		}),
		"new things": cell(cellTable(rw, "In", "N"), func(c *cells, x *tensor.Tensor, out *cellOut) {
			n := 5
			out.N, c.N = &n, &n
			out.P = &point{c.In[0].A, 7}
			c.In = append(c.In[:1:1], out.P, out.P)
			out.S = make([]string, 1, 4)
		}),
	}
}
