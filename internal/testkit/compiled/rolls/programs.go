package rolls

import "github.com/gofx-dev/gofx/tensor"

//go:generate go run github.com/gofx-dev/gofx/cmd/fxgen compile -o fx_compile.go RollSizes RollCounted RollSteps RollStacked RollTwice RollGated RollNil RollLayers RollCat RollParam RollClassic RollNested RollDeep RollFirst RollFlag RollTied UnrollBranch UnrollStore UnrollBreak UnrollGrows UnrollLayers UnrollUses UnrollDelays UnrollKeeps UnrollDims

type tt = tensor.Tensor

// Model is a recurrent network.
type Model struct {
	W, U, B *tt
	Scale   float64
	Steps   int
	Depth   int
	On      bool
	Layers  []*Layer
	Past    *tt
	Xs      []*tt
}

// Layer is a layer of the rounds of RollNested.
type Layer struct {
	W     *tt
	Scale float64
}

// cell is a round of a recurrent network.
func (m *Model) cell(x, h *tt) *tt { return x.Matmul(m.W).Add(h.Matmul(m.U)).Add(m.B).Tanh() }

// RollSizes takes the rows of x one by one.
func RollSizes(m *Model, x, y *tt) *tt {
	h := y
	for i := range x.Dim(0) {
		h = m.cell(x.Select(0, i), h)
	}
	return h
}

// RollCounted counts as older code does.
func RollCounted(m *Model, x, y *tt) *tt {
	h := y
	for i := 0; i < x.Dim(0); i++ {
		h = m.cell(x.Select(-3, i), h).MulScalar(m.Scale)
	}
	return h.Add(y)
}

// RollSteps repeats a round.
func RollSteps(m *Model, x, y *tt) *tt {
	for range m.Steps {
		y = m.cell(x, y)
	}
	return y
}

// RollStacked keeps what all rounds make.
func RollStacked(m *Model, x, y *tt) (*tt, *tt) {
	var list []*tt
	for i := range x.Dim(0) {
		y = m.cell(x.Select(0, i), y)
		list = append(list, y)
	}
	return tensor.Stack(list, 0), y
}

// RollTwice has a loop after a loop.
func RollTwice(m *Model, x, y *tt) *tt {
	n := x.Dim(0)
	list := make([]*tt, 0, n)
	h := y
	for i := range n {
		h = m.cell(x.Select(0, i), h)
		list = append(list, h.AddScalar(1))
	}
	seq := tensor.Stack(list, 1)
	for i := range n {
		h = m.cell(seq.Select(1, i), h).Sub(y)
	}
	return h
}

// RollGated hands two tensors on.
func RollGated(m *Model, x, y *tt) (*tt, *tt) {
	h, c := y, y.Neg()
	for i := range x.Dim(0) {
		h, c = m.gate(x.Select(0, i), h, c)
	}
	return h, c
}

func (m *Model) gate(x, h, c *tt) (*tt, *tt) {
	g := m.cell(x, h)
	c = c.Mul(g.Sigmoid()).Add(g)
	return c.Tanh().Mul(g), c
}

// RollNil begins without a tensor.
func RollNil(m *Model, x, y *tt) *tt {
	var h *tt
	for i := range x.Dim(0) {
		h = m.begun(x.Select(0, i), h)
	}
	if h == nil {
		return y
	}
	return h.Add(y)
}

func (m *Model) begun(x, h *tt) *tt {
	if h == nil {
		return x.Matmul(m.W)
	}
	return m.cell(x, h)
}

// RollLayers has a loop in a function that it calls for each of some layers.
func RollLayers(m *Model, x, y *tt) *tt {
	return m.layer(m.layer(x, y, m.Xs[0]), y, m.Xs[1])
}

func (m *Model) layer(x, h, w *tt) *tt {
	var list []*tt
	for range m.Steps {
		h = x.Mul(w).Add(h).Tanh()
		list = append(list, h)
	}
	return tensor.Stack(list, 0).Mean(0)
}

// RollCat joins what all rounds make, with a tensor before it.
func RollCat(m *Model, x, y *tt) *tt {
	var list []*tt
	for i := range x.Dim(0) {
		y = y.Add(x.Select(0, i))
		list = append(list, y.Matmul(m.W))
	}
	return tensor.Cat(list, 0).Cumsum(0)
}

// RollParam repeats a round for each of two numbers.
func RollParam(m *Model, x, y *tt) *tt {
	for range m.Steps {
		x = m.cell(x, y)
	}
	for range m.Depth {
		y = m.cell(y, x)
	}
	return x.Sub(y)
}

// RollClassic counts up to a field.
func RollClassic(m *Model, x, y *tt) *tt {
	for i := 0; i < m.Steps; i++ {
		if m.On {
			y = m.cell(x, y)
		} else {
			y = y.Sub(x)
		}
	}
	return y
}

// RollNested has a loop over layers in its rounds.
func RollNested(m *Model, x, y *tt) *tt {
	for i := range x.Dim(0) {
		s := x.Select(0, i)
		for _, l := range m.Layers {
			s = s.Mul(l.W).MulScalar(l.Scale)
		}
		y = y.Add(s).Tanh()
	}
	return y
}

// RollDeep gives the tensor on to the function that takes its rows.
func RollDeep(m *Model, x, y *tt) *tt { return m.recur(x, y).Mul(y) }

func (m *Model) recur(x, h *tt) *tt {
	for i := range x.Dim(0) {
		h = m.cell(x.Select(0, i), h)
	}
	return h
}

// RollFirst makes as many calls in its first round as later, but others.
func RollFirst(m *Model, x, y *tt) *tt {
	var h *tt
	for i := range x.Dim(0) {
		s := x.Select(0, i)
		if h == nil {
			h = s.Neg()
		} else {
			h = s.Add(h)
		}
	}
	if h == nil {
		return y
	}
	return h
}

// RollFlag subtracts in its first round what later ones add.
func RollFlag(m *Model, x, y *tt) *tt {
	var last *tt
	for i := range x.Dim(0) {
		s := x.Select(0, i)
		if last == nil {
			y = s.Sub(y)
		} else {
			y = s.Add(y)
		}
		last = s
	}
	return y
}

// RollTied hands one tensor on in two variables, which begin as two.
func RollTied(m *Model, x, y *tt) *tt {
	a, b := y, y.Neg()
	for i := range x.Dim(0) {
		v := a.Mul(b).Add(x.Select(0, i))
		a, b = v, v
	}
	return a.Sub(b.MulScalar(0.5))
}

// UnrollBranch does another thing in the third round.
func UnrollBranch(m *Model, x, y *tt) *tt {
	for i := range m.Steps {
		if i == 2 {
			y = y.Neg()
		}
		y = m.cell(x, y)
	}
	return y
}

// UnrollStore counts its rounds.
func UnrollStore(m *Model, x, y *tt) *tt {
	for range m.Steps {
		m.Depth++
		y = m.cell(x, y)
	}
	return y
}

// UnrollBreak ends early.
func UnrollBreak(m *Model, x, y *tt) *tt {
	for i := range m.Steps {
		if i > m.Depth {
			break
		}
		y = m.cell(x, y)
	}
	return y
}

// UnrollGrows hands on a tensor that grows.
func UnrollGrows(m *Model, x, y *tt) *tt {
	h := y
	for range m.Steps {
		h = tensor.Cat([]*tt{h, x.Matmul(m.W)}, 0)
	}
	return h
}

// UnrollLayers has a weight for each round.
func UnrollLayers(m *Model, x, y *tt) *tt {
	for i := range m.Steps {
		x = x.Mul(m.Xs[i%2])
	}
	return x
}

// UnrollUses computes with the number of rounds.
func UnrollUses(m *Model, x, y *tt) *tt {
	for range m.Steps {
		y = m.cell(x, y)
	}
	return y.DivScalar(float64(m.Steps))
}

// UnrollDelays does another thing three rounds after it has begun.
func UnrollDelays(m *Model, x, y *tt) *tt {
	var a, b, c *tt
	for range m.Steps {
		if c != nil {
			y = y.Neg()
		}
		y = m.cell(x, y)
		a, b, c = y, a, b
	}
	return y
}

// UnrollKeeps keeps the tensor of one round.
func UnrollKeeps(m *Model, x, y *tt) *tt {
	for range m.Steps {
		y = m.cell(x, y)
		m.Past = y
	}
	return y
}

// UnrollDims looks at another size.
func UnrollDims(m *Model, x, y *tt) *tt {
	for i := range x.Dim(0) {
		y = m.cell(x.Select(0, i), y)
	}
	return y.MulScalar(float64(x.Dim(0)))
}
