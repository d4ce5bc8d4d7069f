// Package loops has loops that roll, and loops that do not, with the reason that the analysis tells.
package loops

import "github.com/gofx-dev/gofx/tensor"

type tt = tensor.Tensor

// Model is a recurrent network.
type Model struct {
	W, U  *tt
	Past  *tt
	Steps int
	Depth int
	Act   Activation
	Xs    []*tt
}

// Activation is an interface.
type Activation interface{ Apply(x *tt) *tt }

func (m *Model) cell(x, h *tt) *tt { return x.Matmul(m.W).Add(h.Matmul(m.U)).Tanh() }

// Sized rolls.
func Sized(m *Model, x, h *tt) *tt {
	for i := range x.Dim(0) {
		h = m.cell(x.Select(0, i), h)
	}
	return h
}

// Classic rolls.
func Classic(m *Model, x, h *tt) *tt {
	for i := 0; i < m.Steps; i++ {
		h = m.cell(x, h)
	}
	return h
}

// Param rolls.
func Param(m *Model, x, h *tt, n int) *tt {
	for range n {
		h = m.cell(x, h)
	}
	return h
}

// Stacked rolls.
func Stacked(m *Model, x, h *tt) *tt {
	n := x.Dim(0)
	list := make([]*tt, 0, n)
	for i := range n {
		h = m.cell(x.Select(0, i), h)
		list = append(list, h)
	}
	return tensor.Stack(list, 0)
}

// Given rolls: the tensor is handed on as it is.
func Given(m *Model, x, h *tt) *tt { return Sized(m, x, h).Add(h) }

// Computed counts to a size of a tensor that the code has made: an argument of another function.
func Computed(m *Model, x, h *tt) *tt { return Sized(m, x.Matmul(m.W), h) }

// Numbered: code depends on it
func Numbered(m *Model, x, h *tt) *tt {
	for i := range m.Steps {
		if i == 2 {
			h = h.Neg()
		}
		h = m.cell(x, h)
	}
	return h
}

// Given2: it is given to more than Select
func Given2(m *Model, x, h *tt) *tt {
	for i := range m.Steps {
		h = m.cell(x.SelectScatter(h, 0, i), h)
	}
	return h
}

// Ended: a break or return ends it
func Ended(m *Model, x, h *tt) *tt {
	for range m.Steps {
		if h = m.cell(x, h); m.Depth > 2 {
			return h
		}
	}
	return h
}

// Stores: a later round may see it
func Stores(m *Model, x, h *tt) *tt {
	for range m.Steps {
		h = m.cell(x, h)
		m.Past = h
	}
	return h
}

// StoresDeep: a later round may see it
func StoresDeep(m *Model, x, h *tt) *tt {
	for range m.Steps {
		h = m.kept(x, h)
	}
	return h
}

func (m *Model) kept(x, h *tt) *tt {
	m.Past = x
	return m.cell(x, h)
}

// Delays: a round may leave it as it is, or nil
func Delays(m *Model, x, h *tt) *tt {
	var a, b *tt
	for range m.Steps {
		if b != nil {
			h = h.Neg()
		}
		h = m.cell(x, h)
		a, b = h, a
	}
	return h
}

// Leaves: a round may leave it as it is, or nil
func Leaves(m *Model, x, h *tt) *tt {
	for range m.Steps {
		if h == nil || m.Depth > 1 {
			h = m.Past
		} else {
			h = m.cell(x, h)
		}
	}
	return h
}

// Counts: it changes from round to round, and is no tensor
func Counts(m *Model, x, h *tt) *tt {
	on := false
	for range m.Steps {
		if on {
			h = h.Neg()
		}
		on = !on
		h = m.cell(x, h)
	}
	return h
}

// Lists: it changes from round to round, and is no tensor
func Lists(m *Model, x, h *tt) []*tt {
	var list []*tt
	for range m.Steps {
		h = m.cell(x, h)
		list = append(list, h)
	}
	return list
}

// Sometimes: it changes from round to round, and is no tensor
func Sometimes(m *Model, x, h *tt) *tt {
	var list []*tt
	for range m.Steps {
		h = m.cell(x, h)
		if m.Depth > 1 {
			list = append(list, h)
		}
	}
	return tensor.Stack(list, 0)
}

// Spare: it changes from round to round, and is no tensor
func Spare(m *Model, x, h *tt) *tt {
	list := m.Xs
	for range m.Steps {
		h = m.cell(x, h)
		list = append(list, h)
	}
	return tensor.Stack(list, 0)
}

// Ranks: it may do other things in other rounds
func Ranks(m *Model, x, h *tt) *tt {
	for range m.Steps {
		if h = h.Unsqueeze(0); h.Rank() > 5 {
			h = h.Sum(0)
		}
	}
	return h
}

// Compares: which values are the same may differ from round to round
func Compares(m *Model, x, h *tt) *tt {
	first := h
	for range m.Steps {
		if h == first {
			h = h.Neg()
		}
		h = m.cell(x, h)
	}
	return h
}

// Invokes: what it does is not looked at in loops
func Invokes(m *Model, x, h *tt) *tt {
	for range m.Steps {
		h = m.cell(m.Act.Apply(x), h)
	}
	return h
}

// Uses: other code depends on it, too
func Uses(m *Model, x, h *tt) *tt {
	for range m.Steps {
		h = m.cell(x, h)
	}
	return h.MulScalar(float64(m.Steps))
}

// Looks: other code looks at sizes, too
func Looks(m *Model, x, h *tt) *tt {
	for i := range x.Dim(0) {
		h = m.cell(x.Select(0, i), h)
	}
	return h.MulScalar(float64(x.Dim(1)))
}

// Shared: other code depends on it, too
func Shared(m *Model, x, h *tt) *tt {
	for range m.Steps {
		h = m.cell(x, h)
	}
	for range m.Steps {
		h = m.cell(x, h)
		m.Past = h
	}
	return h
}

// Stored: other code depends on it, too
func Stored(m *Model, x, h *tt) *tt {
	for range m.Steps {
		h = m.cell(x, h)
	}
	m.Steps = 3
	return h
}

// Skips: it does not count up from 0 by 1
func Skips(m *Model, x, h *tt) *tt {
	for i := 0; i < m.Steps; i += 2 {
		h = m.cell(x, h)
	}
	return h
}

// Later: it does not count up from 0 by 1
func Later(m *Model, x, h *tt) *tt {
	for i := 1; i < m.Steps; i++ {
		h = m.cell(x, h)
	}
	return h
}

// Half: it is computed
func Half(m *Model, x, h *tt) *tt {
	for range m.Steps / 2 {
		h = m.cell(x, h)
	}
	return h
}

// Replaced: the count is an argument of another function, or a size of a tensor that the code has made
func Replaced(m *Model, x, h *tt) *tt {
	m.Past = x.Matmul(m.W)
	for i := range m.Past.Dim(0) {
		h = m.cell(m.Past.Select(0, i), h)
	}
	return h
}
