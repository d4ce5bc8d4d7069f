// Package odd has ways in which values get lost: what is found, and what must not be.
package odd

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"
	"sort"
	"sync"

	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/tensor"
)

type list []*tensor.Tensor

type out struct {
	Y    *tensor.Tensor
	Loss *tensor.Tensor
}

type layer interface {
	Forward(x *tensor.Tensor) *tensor.Tensor
}

type scale struct{ W *tensor.Tensor }

func (s *scale) Forward(x *tensor.Tensor) *tensor.Tensor { return x.Mul(s.W) }

// identity returns its input, so that a write to the result is one to the input.
type identity struct{}

func (*identity) Forward(x *tensor.Tensor) *tensor.Tensor { return x }

type net struct {
	scale  // promotes Forward, which net has itself
	layers []layer
	table  map[string]func(*tensor.Tensor) *tensor.Tensor
	Id     *identity
	once   sync.Once
	W      *tensor.Tensor
	steps  int
	name   string
	cfg    *config
	Mask   **tensor.Tensor
}

type config struct {
	Depth int
	Bias  *tensor.Tensor
}

func (m *net) Forward(ctx context.Context, xs list, opts ...any) (o out, err error) {
	x := xs[0]
	for _, l := range m.layers {
		x = l.Forward(x)
	}
	_ = x.Item()                   // want `FX1004`
	_ = m.table["a"](x).Item()     // want `FX1004`
	_ = (*tensor.Tensor).Item(x)   // want `FX1004`
	_ = xs[len(xs)-1].Dim(0)       // want `FX1005`
	_ = min(x.Dim(0), m.cfg.Depth) // want `FX1005`
	_ = m.scale.Forward(x).Item()  // want `FX1004`
	_ = first(xs).Item()           // want `FX1004`
	_ = pick(xs, 1).Y.Item()       // want `FX1004`
	for t := range each(xs) {
		_ = t.Item() // a value of an iterator, which is not followed
	}
	for i := range xs {
		y := &xs[i]
		_ = (*y).Item() // want `FX1004`
	}
	switch v := any(x).(type) {
	case *tensor.Tensor:
		_ = v.Item() // want `FX1004`
	case fmt.Stringer:
		_ = v.String()
	}
	defer func() { _ = x.Item() }() // want `FX1004`
	func() {
		func() { _ = x.Item() }() // want `FX1004`
	}()
	m.Id.Forward(x).AddScalarInPlace(1)
	m.Id.Forward(xs[0]).AddScalarInPlace(1) // want `FX1011`
	z := xs[0]
	for range 3 {
		z = z.T()
	}
	z.AddScalarInPlace(1) // want `FX1011`
	o.Y, o.Loss = x, x.Sum()
	_ = o.Loss.Item() // want `FX1004`
	m.fine(xs, x)
	return o, nil
}

func first[T any, S ~[]T](s S) T { return s[0] }

func pick(xs list, i int) out { return out{Y: xs[i]} }

func each(xs list) iter.Seq[*tensor.Tensor] {
	return func(yield func(*tensor.Tensor) bool) {
		for _, x := range xs {
			if !yield(x) {
				return
			}
		}
	}
}

// fine has nothing that a trace refuses.
func (m *net) fine(xs list, x *tensor.Tensor) {
	_ = m.W.Item()
	_ = (**m.Mask).Item()
	_ = m.cfg.Bias.Dim(0)
	_ = m.layers[0].(*scale).W.Item()
	_ = pair(x, m.W)[1].Item()
	_, w := swap(x, m.W)
	_ = swapped(x, m.W).Item()
	_ = w
	sorted := slices.Sorted(maps.Keys(m.table))
	sort.Strings(sorted)
	for _, k := range sorted {
		x = m.table[k](x)
	}
	var best *tensor.Tensor
	for k := range m.table {
		if best == nil && k == m.name {
			best = m.table[k](x)
		}
	}
	lens := map[string]int{"a": 1}
	total := 0
	for _, n := range lens {
		total += n
	}
	x = x.MulScalar(total)
	b := &builder{w: m.W, cfg: m.cfg}
	b.x = x
	b.step()
	m.once.Do(func() { m.W = m.W.Neg() })
	h := x.Clone()
	h.AddScalarInPlace(1)
	parts := x.Split([]int{1, 1}, 0)
	parts[0] = parts[0].Neg()
	parts[0].AddScalarInPlace(1)
	acc := tensor.Zeros(3)
	for _, p := range parts {
		acc = acc.Add(p)
	}
	acc.MulScalarInPlace(2)
	m.steps++
	fmt.Println(m.steps, x.Rank())
	old := m.cfg
	m.cfg = &config{Depth: 3}
	m.cfg = old
}

func pair(x, w *tensor.Tensor) list { return list{x, w} }

func swap(x, w *tensor.Tensor) (a, b *tensor.Tensor) { return w, x }

func swapped(x, w *tensor.Tensor) *tensor.Tensor {
	a, _ := swap(x, w)
	return a
}

// builder holds values for the time of one call.
type builder struct {
	x, w *tensor.Tensor
	cfg  *config
	done []*tensor.Tensor
}

func (b *builder) step() {
	_ = b.w.Dim(1)
	_ = b.cfg.Bias.Item()
	b.x = b.x.Mul(b.w)
	b.done = append(b.done, b.x)
}

// Train runs eagerly.
func Train(m *net, x *tensor.Tensor) float64 {
	y, _ := m.Forward(context.Background(), list{x})
	x.AddScalarInPlace(1)
	return y.Loss.Item()
}

type deep struct{ nn.Sequential }

func (d *deep) Step(x *tensor.Tensor) float64 { return d.Forward(x).Item() }

type recursive struct {
	Left, Right *recursive
	W           *tensor.Tensor
}

func (r *recursive) Forward(x *tensor.Tensor) *tensor.Tensor {
	if r.Left == nil {
		return x.Mul(r.W)
	}
	_ = r.W.Dim(0)
	return r.Left.Forward(x).Add(r.Right.Forward(x))
}

// walk is a closure that calls itself.
func (r *recursive) walk(x *tensor.Tensor) (n int) {
	var visit func(r *recursive)
	visit = func(r *recursive) {
		if r != nil {
			n += r.W.Dim(0)
			visit(r.Left)
		}
	}
	visit(r)
	return n
}
