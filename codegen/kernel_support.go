package codegen

import "strings"

// supportText is the part of a generated package that does not depend on the
// plan: the state of a call, the checks at entry and the reader of weights. pfx
// stands for the prefix of the package's identifiers, Type for the model's type.
const supportText = `
// take returns a state that no other call uses.
func (m *Type) take(ctx context.Context) *pfxState {
	select {
	case s := <-m.free:
		s.ctx, s.work.Threads = ctx, m.Threads
		return s
	default:
	}
	s := &pfxState{ctx: ctx}
	s.work.Threads = m.Threads
	return s
}

// done ends a call: it keeps the state for the next one, or turns a panic into
// the error. A state in which something failed is not used again.
func (m *Type) done(s *pfxState, err *error) {
	if r := recover(); r != nil {
		*err = pfxFailure(r, s.scope+s.step)
		return
	}
	s.ctx, s.scope, s.step = nil, "", ""
	s.release()
	select {
	case m.free <- s:
	default:
	}
}

// pfxStop is what a call panics with when its context has ended.
type pfxStop struct{ err error }

// pfxFailure returns the error that a panic of a kernel stands for.
func pfxFailure(r any, step string) error {
	switch r := r.(type) {
	case pfxStop:
		return r.err
	case *diag.Error:
		e := *r
		if e.Node == "" {
			e.Node = step
		}
		return &e
	case error:
		e := diag.Bug("a kernel failed")
		e.Node, e.Err = step, r
		return e
	case string:
		e := diag.Bug(r)
		e.Node = step
		return e
	}
	e := diag.Bug("a kernel failed")
	e.Node = step
	return e
}

// pfxRecovered makes an error of a panic; it is deferred.
func pfxRecovered(err *error) {
	if r := recover(); r != nil {
		*err = pfxFailure(r, "")
	}
}

// at returns the workspace for the step of that name, unless the call is to end.
func (s *pfxState) at(step string) *kernel.Workspace {
	s.step = step
	if s.ctx != nil {
		if err := s.ctx.Err(); err != nil {
			panic(pfxStop{err})
		}
	}
	return &s.work
}

// outs lists the results of a step.
func (s *pfxState) outs(a ...*array.Array) []*array.Array {
	s.outList = append(s.outList[:0], a...)
	return s.outList
}

// ins lists the operands of a step.
func (s *pfxState) ins(a ...*array.Array) []*array.Array {
	s.inList = append(s.inList[:0], a...)
	return s.inList
}

// viewed makes sure that a view could be laid out.
func (s *pfxState) viewed(step string, ok bool) {
	if !ok {
		s.step = step
		panic(diag.Bug("the value has a layout that it has for no sizes"))
	}
}

// reserve makes the arena hold size bytes.
func (s *pfxState) reserve(size int) {
	if size < 0 {
		panic(pfxTooLarge("the intermediate values"))
	}
	s.size = size
	if !s.dry && (s.arena == nil || len(s.arena.Bytes()) < size) {
		s.arena = array.NewStorage(size)
	}
}

// place lays a value out in the arena, at a number of bytes from its start.
func (s *pfxState) place(a *array.Array, at int, d array.DType, shape ...int) {
	n, ok := array.NumElems(shape)
	if !ok || at < 0 || n > (s.size-at)/d.Size() {
		panic(pfxTooLarge("an intermediate value"))
	}
	a.Reset(d, shape)
	a.SetStorage(s.arena, at/d.Size())
}

// header gives a value its sizes; a view finds its memory later.
func (s *pfxState) header(a *array.Array, d array.DType, shape ...int) *array.Array {
	if _, ok := array.NumElems(shape); !ok {
		panic(pfxTooLarge("a value"))
	}
	a.Reset(d, shape)
	return a
}

func pfxTooLarge(what string) *diag.Error {
	return diag.New("FX2080", what+" of these sizes cannot be held, expected smaller inputs")
}

// pfxOutput makes the memory of a result.
func pfxOutput[T array.Elem](shape ...int) (array.Dense[T], error) {
	if n, ok := array.NumElems(shape); !ok || n > int(^uint(0)>>1)/16 {
		return array.Dense[T]{}, pfxTooLarge("a result")
	}
	return array.NewDense[T](shape...), nil
}

// pfxChecker compares arguments with what the model takes.
type pfxChecker struct{ errs diag.List }

func (c *pfxChecker) bad(what, name, got, want string) {
	e := diag.New("FX1022", what+" "+strconv.QuoteToASCII(name)+" is "+got+", expected "+want)
	c.errs = append(c.errs, e.WithHint("give arguments of the sizes that the comment of Forward lists"))
}

func (c *pfxChecker) err() error { return c.errs.Err() }

// checkInput checks element type and fixed sizes; -1 stands for a size that is
// checked later.
func (c *pfxChecker) checkInput(name string, a *array.Array, d array.DType, want string, shape ...int) {
	if a == nil {
		c.bad("input", name, "nil", want)
		return
	}
	ok := a.DType() == d && a.Rank() == len(shape)
	for i := 0; ok && i < len(shape); i++ {
		ok = shape[i] < 0 || shape[i] == a.Dim(i)
	}
	if !ok {
		c.bad("input", name, pfxDescribe(a), want)
	}
}

// checkSize checks one size against those of other inputs.
func (c *pfxChecker) checkSize(name string, a *array.Array, want string, axis, size int) {
	if a.Dim(axis) != size {
		c.bad("input", name, pfxDescribe(a), want+" with size "+strconv.Itoa(size)+" at axis "+strconv.Itoa(axis))
	}
}

// checkGuard checks an equality that the model relies on.
func (c *pfxChecker) checkGuard(text, why string, a, b int) {
	if a != b {
		e := diag.New("FX1022", "the inputs have "+strconv.Itoa(a)+" where "+strconv.Itoa(b)+" is needed, expected "+text)
		e.Related = []diag.Related{{Msg: why}}
		if why == "" {
			e.Related = nil
		}
		c.errs = append(c.errs, e)
	}
}

// checkOutput checks the caller's memory for a result.
func (c *pfxChecker) checkOutput(name string, a *array.Array, d array.DType, shape ...int) {
	switch {
	case a == nil:
		c.bad("output", name, "nil", pfxTypeText(d, shape))
	case a.DType() != d || !slices.Equal(a.Shape(), shape):
		c.bad("output", name, pfxDescribe(a), pfxTypeText(d, shape))
	case !a.IsContiguous():
		c.bad("output", name, pfxDescribe(a)+" with gaps", pfxTypeText(d, shape)+" without gaps")
	}
}

// checkApart checks that the memory of a result is not that of an input.
func (c *pfxChecker) checkApart(name string, a *array.Array, inputs ...*array.Array) {
	for _, x := range inputs {
		if a != nil && x != nil && a.Len() > 0 && x.Len() > 0 && a.Storage() == x.Storage() {
			c.bad("output", name, "in the memory of an input", "memory of its own")
			return
		}
	}
}

// pfxDescribe returns "f32[2,3]" for messages.
func pfxDescribe(a *array.Array) string { return pfxTypeText(a.DType(), a.Shape()) }

func pfxTypeText(d array.DType, shape []int) string {
	t := d.String() + "["
	for i, n := range shape {
		if i > 0 {
			t += ","
		}
		t += strconv.Itoa(n)
	}
	return t + "]"
}

// pfxFloorDiv returns a/b rounded towards minus infinity.
func pfxFloorDiv(a, b int) int {
	if b == 0 {
		panic(diag.New("FX2080", "a size is divided by a size that is 0, expected inputs that are not empty"))
	}
	q := a / b
	if a%b != 0 && (a < 0) != (b < 0) {
		q--
	}
	return q
}

// pfxLoader finds the tensors of a model, and collects what is wrong with them.
type pfxLoader struct {
	find func(name string) (*array.Array, error) // nil: headers alone
	seen map[string]bool
	errs diag.List
}

// tensor sets dst to the tensor of that name.
func (l *pfxLoader) tensor(dst **array.Array, name string, d array.DType, shape ...int) {
	if l.find == nil {
		*dst = array.Make(d, nil, nil, 0, nil)
		(*dst).Reset(d, shape)
		return
	}
	l.seen[name] = true
	a, err := l.find(name)
	switch {
	case err != nil:
		l.errs.Add(err)
	case a == nil:
		l.errs = append(l.errs, diag.New("FX8020", "tensor "+strconv.QuoteToASCII(name)+" is missing, expected "+pfxTypeText(d, shape)))
	case a.DType() != d || !slices.Equal(a.Shape(), shape):
		l.errs = append(l.errs, diag.New("FX8022", "tensor "+strconv.QuoteToASCII(name)+" is "+pfxDescribe(a)+", expected "+pfxTypeText(d, shape)))
	}
	*dst = a
}

// pfxRead takes the weights from a file. The error lists every tensor that is
// missing, of another type or not expected.
func pfxRead(f *safetensors.File) (*pfxWeights, error) {
	l := pfxLoader{seen: map[string]bool{}, find: func(name string) (*array.Array, error) {
		if _, _, _, _, ok := f.Info(name); !ok {
			return nil, nil
		}
		return f.Get(name)
	}}
	w := &pfxWeights{}
	w.bind(&l)
	if f.SchemaHash() != pfxSchema {
		for _, name := range f.Names() {
			if !l.seen[name] {
				d, shape, _, _, _ := f.Info(name)
				l.errs = append(l.errs, diag.New("FX8021", "tensor "+strconv.QuoteToASCII(name)+" is "+pfxTypeText(d, shape)+", expected no such tensor"))
			}
		}
	}
	if err := l.errs.Err(); err != nil {
		return nil, err
	}
	return w, nil
}
`

// support returns the fixed part for a model type, without the parts that the
// package does not need.
func (g *kernelGen) support() string {
	return strings.NewReplacer("pfx", g.prefix, "(m *Type)", "(m *"+g.typ+")").Replace(supportText)
}
