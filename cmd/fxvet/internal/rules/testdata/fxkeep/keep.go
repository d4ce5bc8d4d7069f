package fxkeep

import (
	"context"
	"sync"

	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/tensor"
)

type cache struct{ X *tensor.Tensor }

type net struct {
	last  *tensor.Tensor
	list  []*tensor.Tensor
	inner *cache
	log   *cache `fx:"-"`
	mask  *tensor.Tensor
	w     *tensor.Tensor
	byKey map[string]*tensor.Tensor
	size  tensor.Size
	out   chan *tensor.Tensor
	any   sync.Map
}

var (
	leaked *tensor.Tensor
	table  = map[string]*tensor.Tensor{}
)

func (m *net) Forward(x *tensor.Tensor) *tensor.Tensor {
	m.last = x                       // want `FX1043: the model puts another tensor into a field: field last keeps a traced value`
	m.list = append(m.list, x.Neg()) // want `FX1043: .*: field list`
	m.list[0] = x                    // want `FX1043: .*: field list`
	m.inner.X = x                    // want `FX1043: .*: field X`
	m.inner = &cache{x}              // want `FX1043: .*: field inner`
	m.log = &cache{x}                // want `FX1015: a traced value is used after its trace: field log`
	m.byKey["x"] = x                 // want `FX1043: .*: field byKey`
	leaked = x                       // want `FX1015: .*: the global variable leaked keeps it`
	table["x"] = x                   // want `FX1015: .*: the global variable table keeps it`
	m.out <- x                       // want `FX1015: .*: a channel of the module keeps it`
	m.any.Store("x", x)              // want `FX1015: .*: \*sync.Map keeps it`
	m.remember(x)

	m.mask = x
	defer func() { m.mask = nil }()
	m.size = x.Size(0)
	m.last = m.w
	local := &cache{}
	local.X = x
	all := map[string]*tensor.Tensor{"x": x}
	all["y"] = x
	done := make(chan *tensor.Tensor, 1)
	done <- x
	copied := *m
	copied.last = x
	scratch(local, x)
	return x
}

func (m *net) remember(x *tensor.Tensor) {
	m.last = x // want `FX1043`
}

// scratch fills what its caller has made.
func scratch(c *cache, x *tensor.Tensor) { c.X = x }

// Set is called before a capture.
func (m *net) Set(x *tensor.Tensor) { m.last = x }

type regions struct{}

func (regions) Forward(x *tensor.Tensor) *tensor.Tensor {
	var kept, before *tensor.Tensor
	y := x.Neg()
	tensor.Cond(x.Sum().GtScalar(0),
		func(in []*tensor.Tensor) []*tensor.Tensor { kept = in[0].Neg(); before = y; return in },
		func(in []*tensor.Tensor) []*tensor.Tensor { return in }, x)
	_ = before.Relu()
	return kept.Relu() // want `FX1014: regions that do not fit: the value of kept was made in a function of Cond and is used outside of it`
}

func outlives(ctx context.Context, w *tensor.Tensor) *tensor.Tensor {
	var a, b *tensor.Tensor
	_, _ = fx.Trace(ctx, func(x *tensor.Tensor) *tensor.Tensor {
		a, b = x, x
		return x
	})
	b = w
	_ = b.Relu()
	return a.Relu() // want `FX1015: .*: the value of a was kept by the function that Trace captures`
}
