package corners

import (
	"slices"

	"github.com/gofx-dev/gofx/tensor"
)

func positive(x *tt) *tt { return x.Sum().GtScalar(0) }
func same(in ts) ts      { return in }
func neg(in ts) ts       { return ts{in[0].Neg()} }

// CondIdentity asks whether a branch has returned what it was given.
func CondIdentity(m *Model, x, y *tt) *tt {
	h := x.Add(y)
	z := tensor.Cond(positive(x), same, neg, h)[0]
	if z == h {
		return h.MulScalar(3)
	}
	return z.AddScalar(1)
}

// CondMapKey has tensors as keys of a map.
func CondMapKey(m *Model, x, y *tt) *tt {
	h := x.Add(y)
	z := tensor.Cond(positive(x), same, neg, h)[0]
	seen := map[*tt]int{h: 5}
	return z.AddScalar(seen[z])
}

// WhileIdentity asks whether a loop has had no round.
func WhileIdentity(m *Model, x, y *tt) *tt {
	h := x.Add(y)
	z := tensor.While(func(in ts) *tt { return positive(in[0]) }, func(in ts) ts { return ts{in[0].SubScalar(1)} }, h)[0]
	if z == h {
		return h.MulScalar(3)
	}
	return z.AddScalar(1)
}

// ScanIdentity hands a tensor on as it is.
func ScanIdentity(m *Model, x, y *tt) *tt {
	h := x.Add(y)
	last, all := tensor.Scan(func(c, s ts) (ts, ts) { return c, ts{s[0].Mul(c[0].Select(0, 0))} }, ts{h}, ts{x})
	if last[0] == h {
		return all[0].MulScalar(3)
	}
	return all[0]
}

// CondInterface compares what a branch has returned as interfaces.
func CondInterface(m *Model, x, y *tt) *tt {
	h := x.Add(y)
	var a, b any = tensor.Cond(positive(x), same, neg, h)[0], h
	if a == b {
		return h.MulScalar(3)
	}
	return h.AddScalar(1)
}

func isIn(x *tt, list ts) bool {
	for _, o := range list {
		if o == x {
			return true
		}
	}
	return false
}

// CondIn looks for a result in a list.
func CondIn(m *Model, x, y *tt) *tt {
	h := x.Add(y)
	z := tensor.Cond(positive(x), same, neg, h)[0]
	if isIn(z, ts{x, h}) {
		return h.MulScalar(3)
	}
	return h.AddScalar(1)
}

// CondContains looks for what a branch has returned, by the standard library.
func CondContains(m *Model, x, y *tt) *tt {
	h := x.Add(y.Sum(0))
	z := tensor.Cond(positive(x), same, neg, h)[0]
	if slices.Contains(ts{x, h}, z) {
		return h.MulScalar(3)
	}
	return h.AddScalar(1)
}

type pair struct{ a *tt }

// CondStruct compares structs.
func CondStruct(m *Model, x, y *tt) *tt {
	h := x.Add(y)
	z := tensor.Cond(positive(x), same, neg, h)[0]
	if (pair{z}) == (pair{h}) {
		return h.MulScalar(3)
	}
	return h.AddScalar(1)
}

// CondTwice returns one tensor twice.
func CondTwice(m *Model, x, y *tt) *tt {
	a := x.Exp()
	out := tensor.Cond(positive(x), func(in ts) ts { return ts{in[0], in[0]} }, func(in ts) ts { return ts{in[0].Neg(), in[0]} }, a)
	out[0].AddScalarInPlace(1)
	return out[1].Add(y)
}

// CondList writes to the list that control flow returns.
func CondList(m *Model, x, y *tt) *tt {
	list := ts{x.Sum(0), y.Sum(0)}
	out := tensor.Cond(positive(x), same, func(in ts) ts { return ts{in[1], in[0]} }, list...)
	out[0] = m.W
	return list[0].Mul(out[0]).Add(out[1])
}

// WhileList writes to the list that a loop returns.
func WhileList(m *Model, x, y *tt) *tt {
	list := ts{x.Sum(0), y.Sum(0)}
	out := tensor.While(func(in ts) *tt { return positive(in[0]) }, func(in ts) ts { return ts{in[0].SubScalar(1), in[1]} }, list...)
	out[1] = m.W
	return list[1].Mul(out[1]).Add(out[0])
}

// ScanList writes to the list that a scan returns, which its function has handed on.
func ScanList(m *Model, x, y *tt) *tt {
	list := ts{x.Sum(0).MulScalar(2)}
	last, all := tensor.Scan(func(c, s ts) (ts, ts) { return c, ts{s[0].Add(c[0])} }, list, ts{x})
	last[0] = m.W
	return list[0].Mul(all[0])
}

func halves(x *tt, depth int) *tt {
	return tensor.Cond(x.Abs().Sum().GtScalar(1), func(in ts) ts { return ts{halves(in[0].MulScalar(0.5), depth+1)} }, func(in ts) ts { return ts{in[0].AddScalar(1)} }, x)[0]
}

// Recursive calls itself in a branch.
func Recursive(m *Model, x, y *tt) *tt { return halves(x.Sum(0), 0).Neg() }

// WhileSame hands one tensor on twice, and writes to it.
func WhileSame(m *Model, x, y *tt) *tt {
	h := x.Sum(0)
	out := tensor.While(func(in ts) *tt { return positive(in[0]) }, func(in ts) ts { in[0].SubScalarInPlace(2); return in }, h, h)
	return out[1].Add(h)
}

// WhileView hands a tensor and a view of it on.
func WhileView(m *Model, x, y *tt) *tt {
	h := x.Sum(0)
	out := tensor.While(func(in ts) *tt { return positive(in[0]) }, func(in ts) ts { in[0].SubScalarInPlace(2); return in }, h, h.Narrow(0, 0, 2))
	return out[0].Add(out[1].Sum())
}

// ScanSame has one tensor as a state, which is written, and as rows.
func ScanSame(m *Model, x, y *tt) *tt {
	h := x.MulScalar(2)
	last, all := tensor.Scan(func(c, s ts) (ts, ts) { c[0].AddScalarInPlace(1); return c, ts{s[0].Add(c[0].Sum(0))} }, ts{h}, ts{h})
	return all[0].Add(last[0]).Add(h)
}

// ScanWrites writes to the slice that a round is given.
func ScanWrites(m *Model, x, y *tt) *tt {
	h := x.MulScalar(2)
	last, _ := tensor.Scan(func(c, s ts) (ts, ts) { s[0].AddInPlace(c[0]); return ts{s[0].MulScalar(0.5)}, nil }, ts{y.Sum(0)}, ts{h})
	return h.Add(last[0])
}

// ScanWritesArgument writes to slices of an argument.
func ScanWritesArgument(m *Model, x, y *tt) *tt {
	last, _ := tensor.Scan(func(c, s ts) (ts, ts) { s[0].AddInPlace(c[0]); return ts{s[0].MulScalar(0.5)}, nil }, ts{y.Sum(0)}, ts{x})
	return x.Add(last[0])
}

// CondWritesOuter writes to a tensor of outside in a branch.
func CondWritesOuter(m *Model, x, y *tt) *tt {
	h := x.MulScalar(2)
	z := tensor.Cond(positive(x), func(in ts) ts { h.AddScalarInPlace(1); return ts{h.Exp()} }, func(ts) ts { return ts{h.Neg()} })[0]
	return z.Add(h)
}

// FlowPanics fails in a branch, after a store.
func FlowPanics(m *Model, x, y *tt) *tt {
	m.Calls++
	m.Last = x
	z := tensor.Cond(positive(x), func(in ts) ts { return ts{in[0].Narrow(0, 0, m.N)} }, func(in ts) ts { return ts{in[0].Neg().Narrow(0, 0, m.N)} }, x)[0]
	m.Calls++
	return z.Exp()
}

// FlowBranch compares a field and a size in a branch.
func FlowBranch(m *Model, x, y *tt) *tt {
	return tensor.Cond(positive(x), func(in ts) ts {
		if x.Dim(0) > 5 {
			return ts{in[0].MulScalar(m.Rate)}
		}
		if m.N > 2 {
			return ts{in[0].AddScalar(m.N)}
		}
		return ts{in[0].Exp()}
	}, neg, x.Sum(0))[0].Neg()
}

// FlowConst returns new tensors from branches.
func FlowConst(m *Model, x, y *tt) *tt {
	return tensor.Cond(positive(x), func(ts) ts { return ts{tensor.Full(3, m.Rate)} }, func(ts) ts { return ts{tensor.Arange(3).Cast(x.DType())} })[0].Add(x)
}

// FlowViewRead returns views of a tensor that was written before.
func FlowViewRead(m *Model, x, y *tt) *tt {
	h := x.Sum(0)
	h.Narrow(0, 0, 1).AddScalarInPlace(m.Rate)
	z := tensor.Cond(positive(x), func(ts) ts { return ts{h.Narrow(0, 0, 2)} }, func(ts) ts { return ts{h.Narrow(0, 1, 2)} })[0]
	return z.Exp().Add(h.Sum())
}

// WhileNever has no end where a field is too large.
func WhileNever(m *Model, x, y *tt) *tt {
	return tensor.WhileAtMost(4, func(in ts) *tt { return in[1].LtScalar(m.Steps) }, func(in ts) ts { return ts{in[0].MulScalar(0.5), in[1].AddScalar(1)} }, x.Sum(0), tensor.Scalar(int64(0)))[0].Neg()
}

// Assigned assigns a captured variable after the function is made.
func Assigned(m *Model, x, y *tt) *tt {
	h := x.Sum(0)
	by := m.N
	f := func(in ts) ts { return ts{in[0].MulScalar(by + 2)} }
	by *= 2
	h = tensor.Cond(positive(h), f, neg, h)[0]
	by++
	return tensor.Cond(positive(y), f, neg, h)[0]
}

// NestedScan has a scan in a branch, over a tensor of outside.
func NestedScan(m *Model, x, y *tt) *tt {
	return tensor.Cond(positive(x), func(in ts) ts {
		last, _ := tensor.Scan(func(c, s ts) (ts, ts) { return ts{c[0].Mul(m.W).Add(s[0]).Tanh()}, nil }, ts{in[0]}, ts{y})
		return last
	}, neg, x.Sum(0))[0].MulScalar(m.Rate)
}

// StateWritten copies what a branch gives into a tensor of the model.
func StateWritten(m *Model, x, y *tt) *tt {
	n := tensor.Cond(positive(x), func(in ts) ts { return ts{in[0].Mul(m.W)} }, func(in ts) ts { return ts{in[0].AddScalar(1)} }, m.Shared)[0]
	m.Shared.AssignInPlace(n)
	return m.Shared.Add(x.Sum(0))
}
