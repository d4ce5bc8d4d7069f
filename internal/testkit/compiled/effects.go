package compiled

import (
	"math/rand"
	"time"

	"github.com/gofx-dev/gofx/tensor"
)

// Effects: stores, writes of tensors, globals; and what cannot be replayed.

var (
	gain    = 1.5
	counter int64
	hidden  = []float64{2, 3}
)

func Stores(m *Model, x, y *tt) *tt {
	m.Past, m.Name = x.Add(y), "stored"
	m.Next = &Model{W: m.Past, Scale: m.Scale}
	return m.Past
}

func Counts(m *Model, x, y *tt) *tt {
	m.Steps++
	m.Steps += m.Depth
	return x.Neg()
}

func Caches(m *Model, x, y *tt) *tt {
	if m.Past == nil {
		m.Past = x
	} else {
		m.Past = tensor.Cat([]*tt{m.Past, x}, 0)
	}
	return m.Past.Sum()
}

func SameStore(m *Model, x, y *tt) *tt {
	m.Depth = m.Items[0]
	return x
}

func Swaps(m *Model, x, y *tt) *tt {
	m.Layers[0], m.Layers[1] = m.Layers[1], m.Layers[0]
	m.Items[0], m.Items[1] = m.Items[1], m.Items[0]
	return m.Layers[0].Apply(x)
}

func InPlace(m *Model, x, y *tt) *tt {
	x.AddInPlace(y)
	m.W.MulScalarInPlace(0.5)
	return x.Mul(m.W)
}

func Globals(m *Model, x, y *tt) *tt {
	counter++
	hidden[0] = gain
	return x.MulScalar(gain).AddScalar(hidden[1])
}

func Late(m *Model, x, y *tt) *tt {
	z := x.Neg()
	defer func() { m.Steps = m.Depth }()
	return z
}

func Panics(m *Model, x, y *tt) *tt {
	m.Steps++
	if m.Depth > 5 {
		panic("too deep")
	}
	return x.Neg()
}

func Item(m *Model, x, y *tt) *tt {
	if x.Sum().Item() > 0 {
		return y
	}
	return x
}

func Random(m *Model, x, y *tt) *tt {
	return x.MulScalar(rand.New(rand.NewSource(int64(m.Depth))).Float64())
}

func Clock(m *Model, x, y *tt) *tt {
	if time.Now().IsZero() {
		return y
	}
	return x
}

func Ranged(m *Model, x, y *tt) *tt {
	n := 0.0
	for _, v := range m.Table {
		n += v
	}
	return x.MulScalar(n)
}

func Spawns(m *Model, x, y *tt) *tt {
	c := make(chan *tt)
	go func() { c <- x.Neg() }()
	return <-c
}

func Recovers(m *Model, x, y *tt) (r *tt) {
	defer func() {
		if recover() != nil {
			r = y
		}
	}()
	if m.Depth > 5 {
		panic("deep")
	}
	return x
}
