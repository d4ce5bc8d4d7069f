package torchpt

import (
	"slices"
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
)

// Limits of a value: depth of dictionaries and lists in each other, and how many
// values are looked at, since one list may be part of many others.
const (
	maxDepth  = 64
	maxVisits = 2 << 20
	maxLooks  = 32 << 20 // elements of the visited value
	maxName   = 4096
	maxNames  = 64 << 20 // bytes of all names
	// maxRepeat is the most elements of a tensor that has more than its storage.
	maxRepeat = 1 << 24
)

// tensor is a tensor of a file: elements of a member.
type tensor struct {
	name          string
	dtype         *dtype
	shape, stride []int
	offset, n     int // in elements; n is their number
	span          int // elements from the first to the last that is used
	memory        *region
}

// walk lists the tensors of a value.
type walk struct {
	file   *File
	data   func(key string) *region
	path   []byte // names of the current value, with dots
	visits int
	looks  int
	names  int
	errs   diag.List
	off    bool
}

func (w *walk) fail(c diag.Code, msg string) {
	if !w.off {
		w.errs.Add(diag.New(c, "torch: "+msg))
	}
	w.off = w.off || len(w.errs) >= 100
}

// value lists the tensors of a value whose name is w.path.
func (w *walk) value(v any, depth int) {
	if w.visits++; w.visits > maxVisits || w.looks > maxLooks || depth > maxDepth || len(w.path) > maxName {
		w.fail(CodeSyntax, "values are nested more than "+strconv.Itoa(maxDepth)+" deep, have longer names than "+strconv.Itoa(maxName)+" bytes, or are too many, at "+quote(string(w.path))+", expected a state dict")
		w.off = true
	}
	if w.off {
		return
	}
	switch v := v.(type) {
	case *strided:
		w.tensor(string(w.path), v)
	case *seq:
		w.looks += len(v.items)
		for i, x := range v.items {
			if interesting(x) {
				w.sub(strconv.Itoa(i), x, depth)
			}
		}
	case *dict:
		w.looks += len(v.values)
		for i, x := range v.values {
			if !interesting(x) {
				continue
			}
			switch key := v.keys[i].(type) {
			case string:
				w.sub(key, x, depth)
			case int64:
				w.sub(digits(key), x, depth)
			default:
				w.keyless(x)
			}
		}
	}
}

// sub lists the tensors of a part of the value at w.path.
func (w *walk) sub(key string, v any, depth int) {
	n := len(w.path)
	if depth > 0 {
		w.path = append(w.path, '.')
	}
	w.path = append(w.path, key...)
	w.value(v, depth+1)
	w.path = w.path[:n]
}

// interesting reports whether a value may hold tensors.
func interesting(v any) bool {
	switch v.(type) {
	case *strided, *seq, *dict:
		return true
	}
	return false
}

// keyless refuses a tensor whose key is neither text nor integer: it has no name.
func (w *walk) keyless(v any) {
	if _, ok := v.(*strided); ok {
		w.fail(CodeTensor, "a key of "+quote(string(w.path))+" is neither text nor integer, expected a name for the tensor")
	}
}

// tensor enters a tensor, if its elements are in its storage.
func (w *walk) tensor(name string, s *strided) {
	bad := func(msg string) { w.fail(CodeTensor, "tensor "+quote(name)+" "+msg) }
	if w.names += len(name); w.names > maxNames {
		w.fail(CodeSyntax, "names of tensors have more than "+strconv.Itoa(maxNames)+" bytes, expected fewer")
		w.off = true
		return
	}
	if w.file.names[name] != nil {
		bad("occurs twice, expected once")
		return
	}
	m := w.data(s.storage.key)
	if m == nil {
		bad("has its storage in data/" + diag.Quote(s.storage.key) + ", which the archive lacks")
		return
	}
	have := m.size / int64(s.dtype.size)
	if d := s.storage.dtype; d != nil && m.size/int64(d.size) < s.storage.n || d == nil && m.size < s.storage.n {
		bad("has a storage of " + digits(s.storage.n) + " elements, the archive has " + digits(m.size) + " bytes of it")
		return
	}
	if v := s.storage.view; v != nil {
		if v.first < 0 || v.n < 0 || v.first > have || v.n > have-v.first {
			bad("is of a view from " + digits(v.first) + " of " + digits(v.n) + " elements, outside of its storage of " + digits(have))
			return
		}
		if s.offset > v.n {
			s.offset = v.n // outside, which is said below
		}
		moved := *s
		moved.offset += v.first
		s, have = &moved, v.first+v.n
	}
	t, msg := place(s, have)
	if msg != "" {
		bad(msg)
		return
	}
	t.name, t.dtype, t.memory = name, s.dtype, m
	w.file.add(t)
}

func (f *File) add(t *tensor) {
	f.tensors = append(f.tensors, t)
	f.names[t.name] = t
}

// place checks that the elements lie among the first have of a storage.
func place(s *strided, have int64) (*tensor, string) {
	if len(s.shape) != len(s.stride) {
		return nil, "has sizes and strides of different length"
	}
	t := &tensor{shape: make([]int, len(s.shape)), stride: make([]int, len(s.shape)), n: 1}
	last, empty := int64(0), slices.Contains(s.shape, 0)
	for i, n := range s.shape {
		if n < 0 || s.stride[i] < 0 || n > 1<<40 || int64(int(n)) != n {
			return nil, "has a size or stride out of range"
		}
		t.shape[i], t.stride[i] = int(n), int(s.stride[i])
		if n > 1 && !empty {
			if step := s.stride[i]; step > 0 && n-1 > have/step || last > have {
				return nil, "lies outside of its storage of " + digits(have) + " elements"
			}
			last += (n - 1) * s.stride[i]
		}
	}
	n, ok := array.NumElems(t.shape)
	switch {
	case empty && !ok:
		return nil, "has no elements, and sizes whose product is out of range"
	case empty:
		t.n = 0
		return t, ""
	case s.offset < 0 || s.offset >= have || last >= have-s.offset:
		return nil, "lies outside of its storage of " + digits(have) + " elements"
	case !ok || int64(n) > max(have, maxRepeat):
		return nil, "repeats its " + digits(last+1) + " elements too often, expected at most " + strconv.Itoa(maxRepeat)
	}
	t.n, t.offset, t.span = n, int(s.offset), int(last)+1
	return t, ""
}

// readable refuses tensors of types that arrays lack.
func (t *tensor) readable() error {
	if t.dtype.dtype == array.Invalid {
		return diag.New(CodeTensor, "torch: tensor "+quote(t.name)+" has element type "+t.dtype.name+", expected one that arrays have").
			WithHint("convert it before it is saved: tensor.to(torch.float32)")
	}
	if err := array.TooLarge("torch: tensor "+quote(t.name), int64(t.n)*int64(t.dtype.size)); err != nil {
		return err
	}
	return nil
}

// array returns the elements in order.
func (t *tensor) array() (*array.Array, error) {
	d, size := t.dtype.dtype, t.dtype.size
	if t.n == 0 {
		return array.New(d, t.shape...), nil
	}
	b, err := t.memory.bytes()
	if err != nil {
		return nil, &diag.Error{Code: CodeFormat, Msg: "torch: storage of tensor " + quote(t.name) + " cannot be read", Err: err}
	}
	b = b[t.offset*size : (t.offset+t.span)*size : (t.offset+t.span)*size]
	if t.contiguous() {
		a, _ := array.FromBytes(b, d, t.shape...)
		return a, nil
	}
	used, _ := array.FromBytes(b, d, t.span)
	return array.Clone(array.Make(d, t.shape, t.stride, 0, used.Storage())), nil
}

// contiguous reports whether the elements lie in order without gaps.
func (t *tensor) contiguous() bool {
	step := 1
	for i := len(t.shape) - 1; i >= 0; i-- {
		if t.shape[i] != 1 {
			if t.stride[i] != step {
				return false
			}
			step *= t.shape[i]
		}
	}
	return true
}
