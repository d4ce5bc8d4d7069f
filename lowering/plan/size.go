package plan

import (
	"math"
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// Sizes are the numbers of a plan for given values of its symbols.
type Sizes struct {
	Shapes []([]int) // of each buffer
	Offset []int     // of each buffer, in bytes; 0 for those not in the arena
	Bytes  []int     // of each buffer
	Arena  int
}

// Env looks up the value of a symbol.
type Env = func(symbol string) (int, bool)

// maxBytes is more than any machine holds, and little enough for sums to stay in range.
const maxBytes int = 1 << 44

// Size computes s, whose memory it uses again. The error says which size cannot
// be computed or held.
func (p *Plan) Size(s *Sizes, env Env) error {
	if len(s.Shapes) != len(p.Buffers) {
		n := len(p.Buffers)
		*s = Sizes{Shapes: make([][]int, n), Offset: make([]int, n), Bytes: make([]int, n)}
		for i := range p.Buffers {
			s.Shapes[i] = make([]int, p.Buffers[i].Type.Rank())
		}
	}
	for i := range p.Buffers {
		b := &p.Buffers[i]
		dims := b.Type.Dims()
		bytes, most := b.Type.DType().Size(), maxBytes
		if b.Kind == View {
			most = math.MaxInt // it takes no memory
		}
		for k := range dims.Len() {
			n, err := dims.At(k).Eval(env)
			if err != nil {
				return p.context(err, b)
			}
			if n < 0 {
				return p.context(diag.New(shape.CodeEval, "size "+dims.At(k).String()+" of "+b.Type.String()+" is "+strconv.Itoa(n)+", expected 0 or more"), b)
			}
			s.Shapes[i][k] = n
			if n > 0 && bytes > most/n {
				return p.context(diag.New(op.TooLarge, b.Type.String()+" takes more bytes than any machine holds"), b)
			}
			bytes *= n
		}
		s.Bytes[i] = bytes
		if b.Kind == Temp {
			n, err := b.Offset.Eval(env)
			if err != nil {
				return p.context(err, b)
			}
			s.Offset[i] = n
		}
	}
	n, err := p.Arena.Eval(env)
	if err == nil && n > maxBytes {
		err = diag.New(op.TooLarge, "the intermediate values take "+strconv.Itoa(n)+" bytes, more than any machine holds")
	}
	s.Arena = n
	return err
}

// context adds the step that makes b to an error.
func (p *Plan) context(err error, b *Buffer) error {
	e, ok := err.(*diag.Error)
	if !ok {
		return err
	}
	c := *e
	c.Node = b.Name
	if (b.Kind == Temp || b.Kind == View) && b.First >= 0 && b.First < len(p.Steps) {
		s := &p.Steps[b.First]
		c.Op, c.Pos = s.Op, s.Pos
		if len(s.Nodes) > 0 {
			c.Node = s.Nodes[0]
		}
	}
	return &c
}

// Fits refuses sizes whose memory, the arena or a result, is beyond array.MaxBytes.
func (p *Plan) Fits(s *Sizes) error {
	most := array.MaxBytes()
	for i := range p.Buffers {
		b := &p.Buffers[i]
		if (b.Kind == Temp || b.Kind == Output) && int64(s.Bytes[i]) > most {
			return p.context(array.TooLarge(b.Type.String(), int64(s.Bytes[i])), b)
		}
	}
	if err := array.TooLarge("all intermediate values together", int64(s.Arena)); err != nil {
		return err
	}
	return nil
}

// Need returns the most bytes of Temp buffers that are in use at one step: no
// arena can be smaller.
func (p *Plan) Need(s *Sizes) int {
	need := 0
	for step := range p.Steps {
		sum := 0
		for i := range p.Buffers {
			if b := &p.Buffers[i]; b.Kind == Temp && !b.Within && b.First <= step && step <= b.Last {
				sum += s.Bytes[i]
			}
		}
		need = max(need, sum)
	}
	return need
}

// Values returns an Env of a map.
func Values(m map[string]int) Env {
	return func(symbol string) (int, bool) {
		n, ok := m[symbol]
		return n, ok
	}
}
