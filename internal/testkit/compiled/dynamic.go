package compiled

import (
	"fmt"
	"math/rand/v2"
	"os"
	"reflect"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/gofx-dev/gofx/tensor"
)

// What no record can replay: code that looks at data, time, other goroutines, other code's state.

func BreakInt(m *Model, x, y *tt) *tt {
	n := m.Depth
	if x.Sum().Item() > 0 {
		n /= 2
	}
	return x.AddScalar(n + 1)
}

func BreakFloat(m *Model, x, y *tt) *tt {
	f := m.Scale
	if y.Max().Item() > 3 {
		f /= 2
	}
	return x.MulScalar(f).AddScalar(1)
}

func looksAt(x *tt) *tt {
	if x.Min().Item() < 0 {
		return x.Abs()
	}
	return x
}

func BreakCallee(m *Model, x, y *tt) *tt { return looksAt(x.Add(y)).MulScalar(m.Scale) }

func (l *Layer) looks(x *tt) *tt { return looksAt(l.Apply(x)) }

func BreakMethod(m *Model, x, y *tt) *tt { return m.Layers[0].looks(x).Add(m.Layers[1].looks(y)) }

func BreakParam(m *Model, x, y *tt) *tt { return looksAt(m.W.Mul(x)).Add(m.W) }

func (m *Model) BreakForward(x, y *tt) *tt { return looksAt(x.Mul(m.W)).Add(y) }

func BreakStore(m *Model, x, y *tt) *tt {
	m.Past = x.Neg()
	m.On = m.Past.Sum().Item() > 0
	m.Past = m.Past.Add(y)
	return m.Past
}

func BreakLoop(m *Model, x, y *tt) *tt {
	for range m.Depth {
		x = looksAt(x.Mul(y))
	}
	return x
}

func BreakFactory(m *Model, x, y *tt) *tt { return factory(m.Scale, looksAt)(x, y) }

func BreakNorm(m *Model, x, y *tt) *tt {
	if m.On {
		x = x.Sub(x.Mean())
	}
	return looksAt(x).Add(y)
}

func ItemPlus(m *Model, x, y *tt) *tt { return x.AddScalar(y.Sum().Item() + 1) }

func Reads(m *Model, x, y *tt) *tt {
	n := float32(0)
	for _, v := range tensor.Data[float32](x.Relu()) {
		n += v
	}
	return y.MulScalar(n)
}

func Prints(m *Model, x, y *tt) (string, *tt) { return fmt.Sprint(x.Add(y)), y }

func EqualData(m *Model, x, y *tt) *tt {
	if x.Equal(y) {
		return x
	}
	return y.Neg()
}

func BoolOf(m *Model, x, y *tt) *tt {
	if x.Gt(y).Any().Bool() {
		return x
	}
	return y
}

var (
	lock  sync.Mutex
	turns atomic.Int64
	once  sync.Once
)

func Locks(m *Model, x, y *tt) *tt {
	lock.Lock()
	defer lock.Unlock()
	return x.Add(y)
}

func Turns(m *Model, x, y *tt) *tt {
	if turns.Add(1) < 0 {
		return y
	}
	return x.Neg()
}

func Once(m *Model, x, y *tt) *tt {
	once.Do(func() {})
	return x.Neg()
}

func Selects(m *Model, x, y *tt) *tt {
	c := make(chan *tt, 1)
	c <- x
	select {
	case r := <-c:
		return r.Neg()
	default:
		return y
	}
}

func Environment(m *Model, x, y *tt) *tt {
	if os.Getenv("GOFX_NO_SUCH_VARIABLE") != "" {
		return y
	}
	return x.Neg()
}

func Reflects(m *Model, x, y *tt) *tt {
	return x.MulScalar(reflect.ValueOf(m).Elem().FieldByName("Scale").Float())
}

func Unsafely(m *Model, x, y *tt) *tt { return x.MulScalar(*(*float64)(unsafe.Pointer(&m.Scale))) }

func Shuffles(m *Model, x, y *tt) *tt { return x.Add(y).AddScalar(min(rand.IntN(2), 0)) }

func Waits(m *Model, x, y *tt) *tt {
	time.Sleep(time.Nanosecond)
	return x.Neg()
}

func Pools(m *Model, x, y *tt) *tt {
	var all sync.WaitGroup
	all.Go(func() {})
	all.Wait()
	return x.Sub(y)
}

func SyncMaps(m *Model, x, y *tt) *tt {
	var all sync.Map
	all.Store("x", x)
	v, _ := all.Load("x")
	return v.(*tt).Neg()
}

func Elapsed(m *Model, x, y *tt) *tt {
	if time.Since(time.Time{}) < 0 {
		return x
	}
	return y.MulScalar(2)
}

func Channel(m *Model, x, y *tt) *tt {
	c := make(chan *tt, 2)
	c <- x
	c <- y
	close(c)
	sum := m.W
	for t := range c {
		sum = sum.Add(t)
	}
	return sum
}

func MapOrder(m *Model, x, y *tt) (*tt, int) {
	n := 0
	for k, w := range m.Named {
		x = x.Add(w)
		n += len(k)
	}
	return x, n
}
