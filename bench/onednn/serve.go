package onednn

import (
	"fmt"
	"io"
	"unsafe"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/bench/peers"
)

// call is a prepared primitive.
type call struct {
	primitive uintptr
	memories  []uintptr
	args      []argument
	hold      []*array.Array // the operands' memory
	out       *array.Array
}

type server struct {
	lib   *library
	calls map[string]*call
}

// Serve answers requests until the input ends.
func Serve(in io.Reader, out io.Writer) error {
	s := &server{calls: map[string]*call{}}
	return peers.Serve(in, out, s.handle)
}

func (s *server) handle(q *peers.Request) (a peers.Answer, err error) {
	switch q.Do {
	case "hello":
		s.lib, err = open()
		a.Version = "onednn 2"
	case "load":
		var c *call
		if c, err = s.load(q); err != nil {
			return a, err
		}
		s.calls[q.ID] = c
		if err = s.run(c, 1); err == nil {
			v := array.Data[float32](c.out)
			a.Probe = peers.Probe(len(v), func(i int) float64 { return float64(v[i]) })
		}
	case "run":
		c := s.calls[q.ID]
		if c == nil {
			return a, fmt.Errorf("nothing is loaded as %s", q.ID)
		}
		return q.Time(func(times int) error { return s.run(c, times) })
	case "drop":
		if c := s.calls[q.ID]; c != nil {
			for _, m := range c.memories {
				s.lib.memoryDestroy(m)
			}
			s.lib.destroy(c.primitive)
			delete(s.calls, q.ID)
		}
	default:
		err = q.Unknown()
	}
	return a, err
}

func (s *server) run(c *call, times int) error {
	for range times {
		if st := s.lib.execute(c.primitive, s.lib.stream, int32(len(c.args)), &c.args[0]); st != 0 {
			return status("execute", st)
		}
	}
	return status("wait", s.lib.streamWait(s.lib.stream))
}

func (s *server) load(q *peers.Request) (*call, error) {
	switch q.Op {
	case "matmul":
		return s.matmul(q)
	case "unary":
		return s.unary(q)
	}
	return nil, fmt.Errorf("no operator %s", q.Op)
}

// plain describes a dense float array; any leaves the layout to the library.
func (s *server) plain(shape []int, any bool) (*descriptor, error) {
	d := new(descriptor)
	dims := make([]int64, len(shape))
	for i, v := range shape {
		dims[i] = int64(v)
	}
	tag := int32(tagPlain1 + len(shape) - 1)
	if any {
		tag = tagAny
	}
	return d, status("memory descriptor", s.lib.memoryDesc(d, int32(len(shape)), &dims[0], dataF32, tag))
}

// bind adds an operand of the layout md in a's memory.
func (s *server) bind(c *call, index int32, md unsafe.Pointer, a *array.Array) error {
	var m uintptr
	if err := status("memory", s.lib.memoryCreate(&m, md, s.lib.engine, unsafe.Pointer(unsafe.SliceData(array.Data[float32](a))))); err != nil {
		return err
	}
	c.memories = append(c.memories, m)
	c.args = append(c.args, argument{index, m})
	c.hold = append(c.hold, a)
	return nil
}

// create makes the primitive of a descriptor. The caller destroys pd.
func (s *server) create(c *call, d *descriptor) (pd uintptr, err error) {
	if err := status("primitive descriptor", s.lib.primitiveDesc(&pd, d, 0, s.lib.engine, 0)); err != nil {
		return 0, err
	}
	return pd, status("primitive", s.lib.primitive(&c.primitive, pd))
}

func (s *server) unary(q *peers.Request) (*call, error) {
	name, _ := q.Attrs["name"].(string)
	algorithm, ok := algorithms[name]
	if !ok {
		return nil, fmt.Errorf("no function %s", name)
	}
	md, err := s.plain(q.Inputs[0].Shape, false)
	if err != nil {
		return nil, err
	}
	c, d := new(call), new(descriptor)
	if err := status("eltwise", s.lib.eltwiseDesc(d, inference, algorithm, md, 1, 0)); err != nil {
		return nil, err
	}
	pd, err := s.create(c, d)
	if err != nil {
		return nil, err
	}
	defer s.lib.destroyPD(pd)
	c.out = array.New(array.F32, q.Inputs[0].Shape...)
	if err := s.bind(c, argSrc, unsafe.Pointer(md), fill(q.Inputs[0])); err != nil {
		return nil, err
	}
	return c, s.bind(c, argDst, unsafe.Pointer(md), c.out)
}

// matmul multiplies; with the variant "packed" the right operand is laid out as
// the library likes before the measured calls.
func (s *server) matmul(q *peers.Request) (*call, error) {
	x, w := q.Inputs[0], q.Inputs[1]
	rank := len(x.Shape)
	shape := append(append([]int{}, x.Shape[:rank-1]...), w.Shape[rank-1])
	packed := q.Variant == "packed"
	var md [4]*descriptor // x, w as given, w for the product, result
	for i, v := range []struct {
		shape []int
		any   bool
	}{{x.Shape, false}, {w.Shape, false}, {w.Shape, packed}, {shape, false}} {
		var err error
		if md[i], err = s.plain(v.shape, v.any); err != nil {
			return nil, err
		}
	}
	c, d := new(call), new(descriptor)
	if err := status("matmul", s.lib.matmulDesc(d, md[0], md[2], nil, md[3])); err != nil {
		return nil, err
	}
	pd, err := s.create(c, d)
	if err != nil {
		return nil, err
	}
	defer s.lib.destroyPD(pd)
	weights, layout := fill(w), unsafe.Pointer(md[1])
	if packed {
		layout = s.lib.queryMD(pd, queryWeights, 0)
		if weights, err = s.reorder(md[1], layout, weights); err != nil {
			return nil, err
		}
	}
	c.out = array.New(array.F32, shape...)
	if err := s.bind(c, argSrc, unsafe.Pointer(md[0]), fill(x)); err != nil {
		return nil, err
	}
	if err := s.bind(c, argWeights, layout, weights); err != nil {
		return nil, err
	}
	return c, s.bind(c, argDst, unsafe.Pointer(md[3]), c.out)
}

// reorder copies a into the layout to.
func (s *server) reorder(from *descriptor, to unsafe.Pointer, a *array.Array) (*array.Array, error) {
	// Blocked layouts round dimensions up, by less than 64 in each.
	room := 1
	for _, d := range a.Shape() {
		room *= d + 64
	}
	b := array.New(array.F32, room)
	c := new(call)
	var pd uintptr
	if err := status("reorder descriptor", s.lib.reorderDesc(&pd, unsafe.Pointer(from), s.lib.engine, to, s.lib.engine, 0)); err != nil {
		return nil, err
	}
	defer s.lib.destroyPD(pd)
	if err := status("reorder", s.lib.primitive(&c.primitive, pd)); err != nil {
		return nil, err
	}
	defer s.lib.destroy(c.primitive)
	if err := s.bind(c, argSrc, unsafe.Pointer(from), a); err != nil {
		return nil, err
	}
	if err := s.bind(c, argDst, to, b); err != nil {
		return nil, err
	}
	return b, s.run(c, 1)
}

func fill(t peers.Tensor) *array.Array {
	v := make([]float32, t.Len())
	for i := range v {
		v[i] = float32(t.At(i))
	}
	return array.Contiguous(array.FromSlice(v, t.Shape...))
}
