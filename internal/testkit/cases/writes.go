package cases

import (
	"slices"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/tensor"
)

type ts = []*tensor.Tensor

// Writes returns programs that write in place: to local buffers, views, constants,
// state and values that regions share with the code around them.
func Writes() []Case {
	return slices.Concat(local(), views(), handedOut(), typed(), stateful(), regionalWrites(), regionalState(), shared())
}

func on(name, typ string, f func(*tensor.Tensor) *tensor.Tensor, in ...*tensor.Tensor) Case {
	return function(name, f, spec(typ), in...)
}

func local() []Case {
	return []Case{
		on("recurrence in a buffer", "f32[2]", func(x *tensor.Tensor) *tensor.Tensor {
			h := tensor.Zeros(2)
			for range 3 {
				h.AddInPlace(x)
				h.TanhInPlace()
			}
			return h
		}, ramp(2)),
		on("accumulator of a slice", "f32[2]", func(x *tensor.Tensor) *tensor.Tensor {
			acc := tensor.FromSlice([]float32{1, 2})
			acc.AddInPlace(x)
			return acc.MulScalar(2)
		}, ramp(2)),
		on("two pieces of a buffer", "f32[2]", func(x *tensor.Tensor) *tensor.Tensor {
			m := tensor.Zeros(2, 2)
			m.Select(0, 0).AddInPlace(x)
			m.Select(0, 1).AddScalarInPlace(7)
			return m
		}, ramp(2)),
		on("two zeros, one written", "f32[3]", func(x *tensor.Tensor) *tensor.Tensor {
			a, b := tensor.Zeros(3), tensor.Zeros(3)
			a.AddInPlace(x)
			return a.Add(b)
		}, ramp(3)),
		on("view taken before the write", "f32[2]", func(x *tensor.Tensor) *tensor.Tensor {
			m := tensor.Zeros(2, 3)
			column := m.T().Select(0, 1)
			m.Select(0, 0).Slice(0, 0, 2).AddInPlace(x)
			column.MulScalarInPlace(3)
			return m.Add(column.Sum())
		}, ramp(2)),
		on("alias in a struct and a map", "f32[2]", func(x *tensor.Tensor) *tensor.Tensor {
			type pair struct{ a, b *tensor.Tensor }
			buf := tensor.Ones(2)
			p := pair{buf, buf.View(2, 1)}
			named := map[string]*tensor.Tensor{"rows": p.b}
			p.a.MulInPlace(x)
			named["rows"].AddScalarInPlace(1)
			return p.a.Add(p.b.Squeeze(1))
		}, ramp(2)),
		on("constant used before it is written", "f32[2]", func(x *tensor.Tensor) *tensor.Tensor {
			c := tensor.FromSlice([]float32{1, 2})
			y := x.Add(c)
			c.AddScalarInPlace(10)
			return y.Mul(c)
		}, ramp(2)),
		on("written from an eager value", "f32[2]", func(x *tensor.Tensor) *tensor.Tensor {
			c, d := tensor.Ones(2), tensor.Full(2, 3)
			y := x.Add(c)
			c.AssignInPlace(d)
			d.AddScalarInPlace(1)
			return y.Mul(c).Add(d)
		}, ramp(2)),
		on("clone keeps the old value", "f32[2]", func(x *tensor.Tensor) *tensor.Tensor {
			y := x.MulScalar(2)
			old := y.Clone()
			y.NegInPlace()
			return y.Mul(old)
		}, ramp(2)),
		on("buffer filled row by row", "f32[3,2]", func(x *tensor.Tensor) *tensor.Tensor {
			out := tensor.Zeros(3, 2)
			for i := range 3 {
				out.Select(0, i).AssignInPlace(x.Select(0, 2-i).MulScalar(i))
			}
			return out
		}, ramp(3, 2)),
		on("one tensor assigned to two", "f32[2]", func(x *tensor.Tensor) *tensor.Tensor {
			a, b, y := tensor.Zeros(2), tensor.Zeros(2), x.Exp()
			a.AssignInPlace(y)
			b.AssignInPlace(y)
			a.AddScalarInPlace(1)
			return a.Mul(b).Add(y)
		}, ramp(2)),
	}
}

func views() []Case {
	return []Case{
		on("slice of a traced value", "f32[N]", func(x *tensor.Tensor) *tensor.Tensor {
			y := x.MulScalar(1)
			y.Slice(0, 0, 1).AddScalarInPlace(1)
			return y
		}, ramp(3), ramp(5)),
		on("every second column", "f32[2,6]", func(x *tensor.Tensor) *tensor.Tensor {
			y := x.Neg()
			y.Slice(1, 0, 6, tensor.SliceAttrs{Step: 2}).ReluInPlace()
			return y
		}, ramp(2, 6)),
		on("diagonal", "f32[3,3]", func(x *tensor.Tensor) *tensor.Tensor {
			y := x.MulScalar(2)
			y.Diagonal().AddScalarInPlace(100)
			y.Diagonal(tensor.DiagonalAttrs{Offset: 1}).MulScalarInPlace(0)
			return y
		}, ramp(3, 3)),
		on("view of a view of a view", "f32[2,3,4]", func(x *tensor.Tensor) *tensor.Tensor {
			y := x.MulScalar(2)
			v := y.Permute(2, 0, 1).Select(0, 1).Narrow(1, 1, 2).Unsqueeze(0)
			v.AddScalarInPlace(5)
			return y.Add(v.Sum())
		}, ramp(2, 3, 4)),
		on("reshape that is a view", "f32[N,4]", func(x *tensor.Tensor) *tensor.Tensor {
			y := x.MulScalar(2)
			y.Reshape(-1, 2, 2).Select(1, 0).AddScalarInPlace(5)
			y.Flatten(0, -1).Slice(0, 0, 1).MulScalarInPlace(3)
			return y
		}, ramp(3, 4), ramp(1, 4)),
		on("reshape that is a copy", "f32[2,3]", func(x *tensor.Tensor) *tensor.Tensor {
			y := x.MulScalar(2)
			z := y.T().Reshape(6)
			z.AddScalarInPlace(5)
			return y.Reshape(6).Add(z)
		}, ramp(2, 3)),
		on("overlapping views", "f32[4]", func(x *tensor.Tensor) *tensor.Tensor {
			y := x.MulScalar(1)
			a, b := y.Slice(0, 0, 3), y.Slice(0, 1, 4)
			a.AddInPlace(b)
			b.MulInPlace(a)
			return y.Add(a.Sum()).Add(b.Sum())
		}, ramp(4)),
		on("movedim and unflatten", "f32[2,6]", func(x *tensor.Tensor) *tensor.Tensor {
			y := x.MulScalar(1)
			y.Unflatten(1, 2, 3).Movedim(0, 2).Select(0, 1).AddScalarInPlace(1)
			return y
		}, ramp(2, 6)),
		on("masked fill through a view", "f32[3,3]", func(x *tensor.Tensor) *tensor.Tensor {
			y := x.MulScalar(1)
			y.T().MaskedFillInPlace(x.GtScalar(0), -1)
			return y
		}, ramp(3, 3)),
	}
}

func handedOut() []Case {
	return []Case{
		on("data of a factory is changed", "f32[3,3]", func(x *tensor.Tensor) *tensor.Tensor {
			m := tensor.Zeros(3, 3)
			d := tensor.Data[float32](m)
			d[5] = -1e9
			return x.Add(m)
		}, ramp(3, 3)),
		on("data changed between uses", "f32[2]", func(x *tensor.Tensor) *tensor.Tensor {
			m := tensor.Ones(2)
			y := x.Add(m)
			tensor.Data[float32](m)[1] = 5
			y = y.Mul(m)
			tensor.Data[float32](m)[0] = -2
			return y.Add(m.Neg())
		}, ramp(2)),
		on("slice changed after it was wrapped", "f32[2]", func(x *tensor.Tensor) *tensor.Tensor {
			buf := []float32{1, 2}
			c := tensor.FromSlice(buf)
			buf[0] = 10
			y := x.Add(c)
			buf[1] = 20
			return y.Mul(c)
		}, ramp(2)),
		on("view of data that changes", "f32[2]", func(x *tensor.Tensor) *tensor.Tensor {
			buf := []float32{1, 2, 3, 4}
			row := tensor.FromSlice(buf, 2, 2).Select(0, 1)
			y := x.Add(row)
			buf[3] = 40
			return y.Add(row)
		}, ramp(2)),
		on("data of a computed value", "f32[2]", func(x *tensor.Tensor) *tensor.Tensor {
			c := tensor.Arange(2).MulScalar(3)
			a := c.Array()
			y := x.Add(c)
			a.Storage().Bytes()[0]++
			return y.Add(c.Cast(array.F32))
		}, ramp(2)),
	}
}

func typed() []Case {
	return []Case{
		on("half keeps its type", "f32[3]", func(x *tensor.Tensor) *tensor.Tensor {
			h := x.Cast(array.F16)
			h.AddInPlace(x)
			return h
		}, ramp(3)),
		on("bool keeps its type", "i64[3]", func(x *tensor.Tensor) *tensor.Tensor {
			b := x.GtScalar(0)
			b.MulInPlace(x)
			return b
		}, tensor.FromSlice([]int64{-2, 0, 3})),
		on("local half buffer", "f32[2]", func(x *tensor.Tensor) *tensor.Tensor {
			h := tensor.ZerosWith([]int{2, 2}, tensor.SizeAttrs{DType: array.F16})
			h.Select(1, 0).AddInPlace(x)
			return h
		}, ramp(2)),
		{Name: "types known at run time", Fn: addHalf, Inputs: [][]*tensor.Tensor{{ramp(2).Cast(array.F16), ramp(2)}, {ramp(2), ramp(2).Cast(array.F16)}},
			Eager: func(in ts) ts { return ts{addHalf(in[0], in[1])} }},
	}
}

func addHalf(x, y *tensor.Tensor) *tensor.Tensor {
	z := x.Neg()
	z.AddInPlace(y)
	z.Transpose(0, 0).MulInPlace(y)
	return z
}

// Hidden updates a buffer in a field that other packages do not see.
type Hidden struct{ total *tensor.Tensor }

// Forward adds x to the total.
func (m *Hidden) Forward(x *tensor.Tensor) *tensor.Tensor {
	m.total.AddInPlace(x)
	return m.total.MulScalar(1)
}

// Cache is written through views, twice, and read before and after.
type Cache struct {
	Rows  *tensor.Tensor `fx:",buffer"`
	Count *tensor.Tensor `fx:",buffer"`
}

// Forward puts x in front of the rows.
func (m *Cache) Forward(x *tensor.Tensor) (rows, old *tensor.Tensor) {
	doubled := m.Rows.MulScalar(2)
	old = m.Rows.Select(0, 1).Clone()
	m.Rows.Slice(0, 1, 3).AssignInPlace(m.Rows.Slice(0, 0, 2).Clone())
	m.Rows.Select(0, 0).AssignInPlace(x)
	m.Count.AddScalarInPlace(1)
	m.Rows.MulInPlace(m.Count)
	return m.Rows, old.Add(doubled.Sum())
}

func stateful() []Case {
	state := func(c Case) Case { c.Stateful = true; return c }
	cache := &Cache{tensor.Zeros(3, 2), tensor.Zeros(1)}
	global := tensor.FromSlice([]float32{1, 1})
	made := tensor.Ones(2).MulScalar(2)
	return []Case{
		state(module("hidden buffer", &Hidden{tensor.Zeros(2)}, spec("f32[2]"), ramp(2), ramp(2), ramp(2))),
		state(Case{Name: "cache written through views", Fn: cache, Opts: spec("f32[2]"), Inputs: sets(ramp(2), ramp(2), ramp(2)), Eager: func(in ts) ts {
			rows, old := cache.Forward(in[0])
			return ts{rows, old}
		}}),
		state(on("variable of a closure", "f32[2]", func(x *tensor.Tensor) *tensor.Tensor {
			global.AddInPlace(x)
			return global.MulScalar(2)
		}, ramp(2), ramp(2))),
		state(on("computed variable of a closure", "f32[2]", func(x *tensor.Tensor) *tensor.Tensor {
			y := x.Mul(made)
			made.Slice(0, 0, 1).AddScalarInPlace(1)
			return y.Add(made)
		}, ramp(2), ramp(2))),
		state(module("buffer updated from itself", &Counted{tensor.ZerosWith(1, tensor.SizeAttrs{DType: array.I64})}, spec("f32[2]"), ramp(2), ramp(2))),
		state(module("buffer read by a recipe", &Scaled{tensor.Ones(2)}, spec("f32[2]"), ramp(2), ramp(2))),
	}
}

// Counted counts its calls without any traced value.
type Counted struct {
	Calls *tensor.Tensor `fx:",buffer"`
}

// Forward counts.
func (m *Counted) Forward(x *tensor.Tensor) *tensor.Tensor {
	m.Calls.AddScalarInPlace(1)
	return x.Add(m.Calls)
}

// Scaled reads a buffer before it writes it.
type Scaled struct {
	Buffer *tensor.Tensor `fx:",buffer"`
}

// Forward uses its earlier results before the write.
func (m *Scaled) Forward(x *tensor.Tensor) *tensor.Tensor {
	before := m.Buffer.MulScalar(3)
	m.Buffer.AddInPlace(x)
	return x.Mul(before).Add(m.Buffer)
}

// region is a case with control flow in the graph.
func region(name, typ string, f func(*tensor.Tensor) *tensor.Tensor, in ...*tensor.Tensor) Case {
	c := on(name, typ, f, in...)
	c.Regions = true
	return c
}

func regionalWrites() []Case {
	positive := func(x *tensor.Tensor) *tensor.Tensor { return x.Sum().GtScalar(0) }
	return []Case{
		region("branch writes its argument", "f32[3]", func(x *tensor.Tensor) *tensor.Tensor {
			y := x.MulScalar(2)
			z := tensor.Cond(positive(x), func(in ts) ts {
				in[0].AddScalarInPlace(1)
				return ts{in[0].Sum()}
			}, func(in ts) ts { return ts{in[0].Mean()} }, y)
			return y.Add(z[0])
		}, ramp(3), ramp(3).Neg()),
		region("branches write what they capture", "f32[3]", func(x *tensor.Tensor) *tensor.Tensor {
			buf, y := tensor.Ones(3), x.MulScalar(2)
			row := y.Slice(0, 1, 2)
			out := tensor.Cond(positive(x), func(in ts) ts {
				buf.AddInPlace(in[0])
				return ts{buf.Sum()}
			}, func(in ts) ts {
				row.MulScalarInPlace(-1)
				return ts{y.Sum()}
			}, x)
			return y.Add(buf).Add(out[0]).Add(row)
		}, ramp(3), ramp(3).Neg()),
		region("loop writes its argument", "f32[3]", func(x *tensor.Tensor) *tensor.Tensor {
			y := x.MulScalar(1)
			out := tensor.While(func(in ts) *tensor.Tensor { return in[0].Amax().LtScalar(50) }, func(in ts) ts {
				in[0].AddScalarInPlace(3)
				return ts{in[0]}
			}, y)
			return y.Add(out[0])
		}, ramp(3), ramp(3).AddScalar(100)),
		region("loop writes what it captures", "f32[3]", func(x *tensor.Tensor) *tensor.Tensor {
			total := tensor.Zeros(3)
			first := total.Slice(0, 0, 1)
			out := tensor.While(func(in ts) *tensor.Tensor { return in[0].Sum().LtScalar(20) }, func(in ts) ts {
				next := in[0].AddScalar(1).Add(first)
				total.AddInPlace(x)
				first.MulScalarInPlace(-1)
				return ts{next}
			}, x)
			return total.Add(out[0]).Add(first)
		}, ramp(3)),
		region("scan writes carried values, slices and captures", "f32[4,2]", func(x *tensor.Tensor) *tensor.Tensor {
			xs, h, seen := x.MulScalar(1), tensor.Zeros(2), tensor.Zeros(1)
			last, out := tensor.Scan(func(carry, slices ts) (next, out ts) {
				carry[0].AddInPlace(slices[0])
				slices[0].MulScalarInPlace(-1)
				seen.AddInPlace(slices[0].Slice(0, 0, 1).Abs().AddScalar(1))
				return carry, ts{carry[0].Mul(seen)}
			}, ts{h}, ts{xs})
			return xs.Add(out[0]).Add(last[0]).Add(h).Add(seen)
		}, ramp(4, 2)),
		region("buffer made in each iteration", "f32[2]", func(x *tensor.Tensor) *tensor.Tensor {
			out := tensor.While(func(in ts) *tensor.Tensor { return in[0].Sum().LtScalar(9) }, func(in ts) ts {
				b := tensor.Ones(2)
				b.AddInPlace(in[0].Abs())
				return ts{b}
			}, x)
			return out[0].Neg()
		}, ramp(2)),
		region("branch in a loop writes from far out", "f32[2]", func(x *tensor.Tensor) *tensor.Tensor {
			seen := tensor.Zeros(2, 2)
			out := tensor.While(func(in ts) *tensor.Tensor { return in[0].Sum().LtScalar(30) }, func(in ts) ts {
				r := tensor.Cond(in[0].Sum().GtScalar(10), func(v ts) ts {
					seen.Select(0, 1).AddInPlace(v[0])
					return ts{v[0].MulScalar(2)}
				}, func(v ts) ts {
					seen.Select(0, 0).AddInPlace(v[0])
					return ts{v[0].AddScalar(2)}
				}, in[0])
				return r
			}, x)
			return seen.Add(out[0])
		}, ramp(2)),
	}
}

func regionalState() []Case {
	return []Case{
		{Name: "state written by itself in a loop", Fn: &Doubling{tensor.Ones(2)}, Opts: []fx.Option{fx.Input("x", "f32[2]")}, Inputs: sets(ramp(2), ramp(2)),
			Eager: one((&Doubling{tensor.Ones(2)}).Forward), Regions: true, Stateful: true},
		{Name: "state written in a branch", Fn: &Branching{tensor.Ones(2)}, Opts: []fx.Option{fx.Input("x", "f32[2]")}, Inputs: sets(ramp(2), ramp(2).Neg(), ramp(2)),
			Eager: one((&Branching{tensor.Ones(2)}).Forward), Regions: true, Stateful: true},
		{Name: "hidden buffer in a loop", Fn: &Looped{tensor.Zeros(2)}, Opts: []fx.Option{fx.Input("x", "f32[2]")}, Inputs: sets(ramp(2), ramp(2)),
			Eager: one((&Looped{tensor.Zeros(2)}).Forward), Regions: true, Stateful: true},
	}
}

// Looped updates its state in a loop.
type Looped struct {
	State *tensor.Tensor `fx:",buffer"`
}

// Forward runs the loop.
func (m *Looped) Forward(x *tensor.Tensor) *tensor.Tensor {
	_, out := tensor.Scan(func(carry, in ts) (ts, ts) {
		m.State.AddInPlace(in[0])
		return carry, ts{m.State.Tanh()}
	}, ts{x}, ts{tensor.Stack(ts{x, x.Neg(), x.AddScalar(1)}, 0)})
	return out[0].Add(m.State)
}

// Doubling changes its state in a loop by calls without a traced value.
type Doubling struct {
	State *tensor.Tensor `fx:",buffer"`
}

// Forward runs the loop.
func (m *Doubling) Forward(x *tensor.Tensor) *tensor.Tensor {
	last, _ := tensor.Scan(func(carry, in ts) (ts, ts) {
		m.State.Slice(0, 0, 1).MulScalarInPlace(2)
		twice := m.State.MulScalar(2)
		m.State.AddScalarInPlace(1)
		return ts{carry[0].Add(twice)}, nil
	}, ts{x}, ts{tensor.Stack(ts{x, x, x}, 0)})
	return last[0].Sub(m.State)
}

// Branching changes its state on one side.
type Branching struct {
	State *tensor.Tensor `fx:",buffer"`
}

// Forward runs the branch.
func (m *Branching) Forward(x *tensor.Tensor) *tensor.Tensor {
	return tensor.Cond(x.Sum().GtScalar(0), func(in ts) ts {
		m.State.AddScalarInPlace(0.5)
		return ts{in[0].AddScalar(1)}
	}, func(in ts) ts { return ts{in[0].Mul(m.State)} }, x)[0]
}
