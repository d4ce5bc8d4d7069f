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

// end is where a buffer ends.
func (s *Sizes) end(buffer int) int { return s.Offset[buffer] + s.Bytes[buffer] }

// Env looks up the value of a symbol.
type Env = func(symbol string) (int, bool)

// maxBytes is more than any machine holds, and little enough for sums to stay in range.
const maxBytes int = 1 << 44

// Size computes s, whose memory it uses again. Of late buffers the shapes are 0, and the
// bytes the most that they take, 0 where that is not known. The error
// says which size cannot be computed or held.
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
		if b.Late {
			s.Bytes[i] = p.most(b, env)
			continue
		}
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

// most is the most bytes that a late buffer takes, 0 where that is not known.
func (p *Plan) most(b *Buffer, env Env) int {
	bytes := b.Type.DType().Size()
	for k := range b.Most.Len() {
		n, err := b.Most.At(k).Eval(env)
		if err != nil || n <= 0 || bytes > maxBytes/n {
			return 0
		}
		bytes *= n
	}
	if b.Most.Len() < b.Type.Rank() {
		return 0
	}
	return bytes
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

// Fits refuses sizes whose memory, the arena or a result, is beyond most bytes.
func (p *Plan) Fits(s *Sizes, most int64) error {
	for i := range p.Buffers {
		b := &p.Buffers[i]
		if (b.Kind == Temp || b.Kind == Output) && int64(s.Bytes[i]) > most {
			return p.context(array.TooLargeFor(b.Type.String(), int64(s.Bytes[i]), most), b)
		}
	}
	if err := array.TooLargeFor("all intermediate values together", int64(s.Arena), most); err != nil {
		return err
	}
	return nil
}

// Need returns the most bytes of Temp buffers that are in use at one step: no
// arena can be smaller.
func (p *Plan) Need(s *Sizes) (need int) {
	for _, n := range p.Held(s) {
		need = max(need, n)
	}
	return need
}

// Held returns the bytes of Temp buffers that are in use at each step.
func (p *Plan) Held(s *Sizes) []int {
	held := make([]int, len(p.Steps)+1)
	for i := range p.Buffers {
		if b := &p.Buffers[i]; b.Kind == Temp && !b.Within && b.First >= 0 && b.First <= b.Last && b.Last < len(p.Steps) {
			held[b.First] += s.Bytes[i]
			held[b.Last+1] -= s.Bytes[i]
		}
	}
	for i := 1; i < len(held); i++ {
		held[i] += held[i-1]
	}
	return held[:len(p.Steps)]
}

// BodySymbols returns what the operands of a control-flow step make the symbols of a
// body of it, for sizes s of the plan that env gives. Those of late operands are what env
// has for their names, else the most that they can be; unknown are those without either.
func (p *Plan) BodySymbols(step int, body *Plan, s *Sizes, env Env) (symbols map[string]int, unknown []string) {
	symbols = map[string]int{}
	operands, sliced := p.Steps[step].Operands()
	for _, sym := range body.Symbols {
		k := operands[sym.Input]
		if b := &p.Buffers[k]; b.Late {
			n, ok := env(sym.Name)
			if !ok && sym.Axis < b.Most.Len() {
				most, err := b.Most.At(sym.Axis).Eval(env)
				n, ok = most, err == nil
			}
			if symbols[sym.Name] = n; !ok {
				unknown = append(unknown, sym.Name)
			}
			continue
		}
		sizes := s.Shapes[k]
		if sliced(sym.Input) {
			sizes = sizes[1:]
		}
		symbols[sym.Name] = sizes[sym.Axis]
	}
	return symbols, unknown
}

// Values returns an Env of a map.
func Values(m map[string]int) Env {
	return func(symbol string) (int, bool) {
		n, ok := m[symbol]
		return n, ok
	}
}
