package programs

import (
	"context"
	"errors"
	"fmt"
	"log"
	"maps"
	"math"
	"math/rand"
	"os"
	"reflect"
	"slices"
	"sort"
	"strings"
	"sync"
	"time"
	"unsafe"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/tensor"
)

type Shape interface{ Area() float64 }

type Square struct{ Side float64 }

func (s Square) Area() float64 { return s.Side * s.Side }

type Circle struct{ R float64 }

func (c *Circle) Area() float64 { return math.Pi * c.R * c.R }

type Clock struct{ Base float64 }

func (c *Clock) Area() float64 { return c.Base + float64(time.Now().Unix()) }

// held makes the types known that memory may hold.
var held = []Shape{Square{}, &Circle{}, &Clock{}}

func Interface(s Shape) float64 { return s.Area() }

func InterfaceMadeHere() float64 {
	var s Shape = &Clock{}
	return s.Area()
}

type Holder struct{ S Shape }

func InterfaceInStruct(h *Holder) float64 { return h.S.Area() }

func TypeSwitch(v any) float64 {
	switch v := v.(type) {
	case int:
		return float64(v)
	case Square:
		return v.Side
	case *Circle:
		return v.R
	case Shape:
		return v.Area()
	}
	return 0
}

func InterfaceCompare(a, b Shape) bool { return a == b }

func Scoped(m *Model, x *tensor.Tensor) *tensor.Tensor { return nn.Run(m.Blocks[0], x) }

func ScopedInterface(m *Model, x *tensor.Tensor) *tensor.Tensor { return nn.Run(m.Layer, x) }

type Two struct{ Bias float64 }

type Pair struct {
	A    *tensor.Tensor
	Rest []*tensor.Tensor
}

func (m *Two) Forward(x *tensor.Tensor) Pair { return Pair{A: x.AddScalar(m.Bias)} }

func Several(m *Two, x *tensor.Tensor) []*tensor.Tensor { return nn.RunAll(m, x) }

// The functions that Model.Act may be.
func leaky(slope float64) func(*tensor.Tensor) *tensor.Tensor {
	return func(x *tensor.Tensor) *tensor.Tensor { return x.LeakyRelu(slope) }
}

func counting() func(*tensor.Tensor) *tensor.Tensor {
	n := 0
	return func(x *tensor.Tensor) *tensor.Tensor {
		n++
		return x.MulScalar(n)
	}
}

func scaled(b *Block) func(*tensor.Tensor) *tensor.Tensor {
	return func(x *tensor.Tensor) *tensor.Tensor { return x.MulScalar(b.Gain) }
}

func timed(x *tensor.Tensor) *tensor.Tensor { return x.MulScalar(float64(time.Now().Unix())) }

var acts = []func(*tensor.Tensor) *tensor.Tensor{leaky(1), counting(), scaled(nil), timed, tensor.Relu, (&Block{}).Forward}

func FunctionValue(m *Model, x *tensor.Tensor) *tensor.Tensor { return m.Act(x) }

func FunctionMade(x *tensor.Tensor) *tensor.Tensor { return timed2(timed, x) }

func timed2(f func(*tensor.Tensor) *tensor.Tensor, x *tensor.Tensor) *tensor.Tensor { return f(x) }

func Closure(m *Model, x *tensor.Tensor) *tensor.Tensor {
	k := m.Depth
	f := func(y *tensor.Tensor) *tensor.Tensor { return y.MulScalar(k).MulScalar(m.Steps) }
	k++
	return f(x)
}

func ClosureStore(m *Model, x *tensor.Tensor) {
	func() { m.Last = x }()
}

func Loop(m *Model, x *tensor.Tensor) *tensor.Tensor {
	return tensor.While(func(in []*tensor.Tensor) *tensor.Tensor { return in[0].Sum().LtScalar(m.Steps) },
		func(in []*tensor.Tensor) []*tensor.Tensor { return []*tensor.Tensor{in[0].MulScalar(m.Depth)} }, x)[0]
}

type Number interface{ ~int | ~float64 }

type Box[T Number] struct{ V T }

func (b *Box[T]) Get() T { return b.V }

func first[T any](list []T) T { return list[0] }

func Generic(b *Box[int], list []*Box[float64]) float64 { return float64(b.Get()) + first(list).Get() }

func Recursive(n *Node) int {
	if n == nil {
		return 0
	}
	return n.V + Recursive(n.Next)
}

type Node struct {
	V    int
	Next *Node
}

func Standard(m *Model, s string) string {
	return strings.ToUpper(s) + fmt.Sprintf("%d %s", m.Steps, s) + strings.Join(m.Names, ",")
}

func PrintsStruct(m *Model) string { return fmt.Sprint(m.Nested) }

func PrintsShape(s Shape) string { return fmt.Sprintf("%v", s) }

func Sorts(m *Model) { sort.Strings(m.Names) }

func SortsBy(m *Model) {
	slices.SortFunc(m.Blocks, func(a, b *Block) int { return int(a.Gain - b.Gain) })
}

func MapRange(m *Model) (s float64) {
	for _, v := range m.Table {
		s = s*2 + v
	}
	return s
}

func SortedKeys(m *Model) (s float64) {
	for _, k := range slices.Sorted(maps.Keys(m.Table)) {
		s = s*2 + m.Table[k]
	}
	return s
}

func UnsortedKeys(m *Model) []string { return slices.Collect(maps.Keys(m.Table)) }

func RangeFunc(m *Model) (s float64) {
	for _, b := range slices.Backward(m.Blocks) {
		s += b.Gain
	}
	return s
}

func Refused(m *Model) error {
	if m.Steps < 0 {
		return errors.New("negative")
	}
	if m.Depth < 0 {
		panic(fmt.Sprint(m.Cells, time.Now()))
	}
	mustBe(m.Width > 0, m)
	return nil
}

func mustBe(ok bool, m *Model) {
	if !ok {
		refuse(m)
	}
}

func refuse(m *Model) { panic(fmt.Sprint(m.Names)) }

func Logs(m *Model)                  { log.Print(m.Steps) }
func Random() float64                { return rand.Float64() }
func Environment() string            { return os.Getenv("A") }
func Printed()                       { println("a") }
func Locks(mu *sync.Mutex)           { mu.Lock() }
func Starts(m *Model)                { go bump(&m.Steps) }
func Receives(c chan int) int        { return <-c }
func Sends(c chan int)               { c <- 1 }
func Unsafe(p *int) uintptr          { return uintptr(unsafe.Pointer(p)) }
func Reflects(v any) string          { return reflect.TypeOf(v).String() }
func Contexts(c context.Context) any { return c.Value(1) }

func Recovers(m *Model) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = errors.New("recovered")
		}
	}()
	m.Steps = 1
	return nil
}

func Observes(x *tensor.Tensor) float64 { return x.Item() + float64(tensor.Data[float32](x)[0]) }

func Sizes(x *tensor.Tensor) *tensor.Tensor { return x.Reshape(x.Size(0).Mul(2), x.Dim(1)) }

func InPlace(m *Model, x *tensor.Tensor) { x.AddInPlace(m.Last) }

type Buffer struct {
	Data []float32
	A    *array.Array
}

func Kept(b *Buffer) *tensor.Tensor { return tensor.FromSlice(b.Data) }

func OfArrayBefore(b *Buffer) *tensor.Tensor { return tensor.New(b.A) }

func OfNewArray() *tensor.Tensor { return tensor.New(array.New(array.F32, 2)) }

func Engines(x *tensor.Tensor) any { return x.Value() }

type Sizer struct{ N tensor.Size }

func SizeField(s *Sizer, x *tensor.Tensor) *tensor.Tensor { return x.Reshape(s.N, -1) }

type Marked struct{ Kind fmt.Stringer }

func StandardInterface(m *Marked) string { return m.Kind.String() }

type Named struct{ *tensor.Tensor }

type Number1 interface{ Item() float64 }

var numbers = []Number1{Named{}}

func TensorMethodValue(x *tensor.Tensor) float64 {
	f := x.Item
	return f()
}

func TensorMethodExpression(x *tensor.Tensor) *tensor.Tensor {
	return (*tensor.Tensor).AddScalarInPlace(x, 1)
}

func TensorPromoted(n Named) *tensor.Tensor { return n.Relu() }

func TensorPromotedMade(n *Named) float64 {
	var i Number1 = n
	return i.Item()
}

type Fault struct{ Text string }

func (f *Fault) Error() string { return f.Text }

type Failing struct{ Err error }

func (f *Failing) fail(text string) { f.Err = &Fault{text} }

func ErrorField(f *Failing) string { return f.Err.Error() }

func LockPromoted(s *struct {
	sync.Mutex
	N int
}) {
	s.Lock()
	s.N++
}

type Guarded struct {
	sync.Mutex
	N int
}

var lockers = []sync.Locker{&Guarded{}}

func LockerMethod(g *Guarded) { f := g.Lock; f() }

func Nested(m *Model) func() int {
	n := m.Steps
	return func() int {
		g := func() int { return n + m.Depth }
		n++
		return g()
	}
}

func DeferredClosure(m *Model) (n int) {
	defer func() { n += m.Width }()
	return m.Steps
}

func Labelled(m *Model) (n int) {
outer:
	for i := range m.Blocks {
		for {
			if m.Steps > i {
				break outer
			}
			n++
			continue outer
		}
	}
	return n
}

func PointerToPointer(p **Config) int { return (*p).Width }

func MapOfStructs(m map[string]Inner) int { return m["a"].B }

func MapOfPointers(m map[string]*Inner) { m["a"].B = 1 }

func KeyedByInterface(m map[any]int, k Shape) int { return m[k] }

func Cleared(m *Model) {
	clear(m.Table)
	clear(m.Values)
}

func Minimum(m *Model) int { return min(m.Steps, m.Depth) }

func Swap(m *Model) { m.Values[0], m.Values[1] = m.Values[1], m.Values[0] }

func Escaping(m *Model) *float64 { return &m.Scale }

func SliceOfSlices(s [][]Inner) int { return s[0][1].A }

type Embedder struct{ Shape }

func EmbeddedInterface(e *Embedder) float64 { return e.Area() }

type Stack[T any] struct{ Items []T }

func (s *Stack[T]) Push(v T) { s.Items = append(s.Items, v) }

func (s *Stack[T]) Each(yield func(T) bool) {
	for _, v := range s.Items {
		if !yield(v) {
			return
		}
	}
}

func Iterator(s *Stack[*Block]) (n float64) {
	for b := range s.Each {
		n += b.Gain
	}
	return n
}

func GenericStore(s *Stack[Inner]) { s.Push(Inner{}) }

func Complex(m *Model, x *tensor.Tensor) (y *tensor.Tensor, err error) {
	defer func() { m.Last = y }()
	switch {
	case m.Steps > 3:
		return x, fmt.Errorf("%d steps", m.Steps)
	case m.Act != nil:
		return m.Act(x), nil
	}
	return x.Mul(m.Last), nil
}
