package safetensors

import (
	"slices"
	"strings"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
)

// Names returns the names of the tensors in the order of the header.
func (f *File) Names() []string {
	names := make([]string, f.entries.len())
	for i := range names {
		names[i] = f.entries.at(i).name
	}
	return names
}

func (f *File) find(name string) (*entry, bool) {
	i, ok := slices.BinarySearchFunc(f.byName, name, func(i int32, name string) int {
		return strings.Compare(f.entries.at(int(i)).name, name)
	})
	if !ok {
		return nil, false
	}
	return f.entries.at(int(f.byName[i])), true
}

// Info returns element type, shape, and offset in the file and length in bytes of
// a tensor's data; ok is false when there is no such tensor. The element type is
// Invalid where arrays have none like it; see Format. The shape is the caller's.
func (f *File) Info(name string) (d array.DType, shape []int, off, length int64, ok bool) {
	e, ok := f.find(name)
	if !ok {
		return array.Invalid, nil, 0, 0, false
	}
	return e.dtype(), f.shape(e, []int{}), f.start + e.begin, e.end - e.begin, true
}

// Format returns the element type of a tensor as the file spells it, "F8_E4M3" for
// instance, "" when there is no such tensor.
func (f *File) Format(name string) string {
	e, ok := f.find(name)
	if !ok {
		return ""
	}
	return f.format(e)
}

// format reads the element type again from the header, where parse has checked it.
func (f *File) format(e *entry) (name string) {
	if e.format != unknown {
		return formats[e.format].name
	}
	p := newScanner(f.header, int(e.at))
	p.str()
	p.Need(':')
	p.object(func(key string, _ int) {
		if key == "dtype" {
			name = p.str()
		} else {
			p.ints(p.buf[:])
		}
	})
	return name
}

// Copied returns the bytes of tensors that Get has copied because the machine cannot read them as they lie
// in the file, or they are packed there, or are bools of other bytes than 0 and 1.
func (f *File) Copied() int64 { return f.copied.Load() }

// Get returns a tensor. From Parse, ReadFile and Map it shares the file's memory where
// the machine can read it (array.Readable), else it is a copy; from Open it is read
// each time. Bytes of bools other than 0 are true. Data is compared with its checksum when the file has checksums. The
// error is a *diag.Error: CodeName, CodeDType, CodeRead, CodeChecksum, or
// array.CodeTooLarge beyond array.MaxBytes.
func (f *File) Get(name string) (*array.Array, error) {
	if f.closed.Load() {
		return nil, diag.New(CodeRead, "safetensors: the file was closed, expected an open one")
	}
	e, ok := f.find(name)
	if !ok {
		return nil, diag.New(CodeName, "safetensors: no tensor "+quote(name)+" among "+digits(int64(f.entries.len()))+", expected one of that name")
	}
	d := e.dtype()
	if d == array.Invalid {
		return nil, fault(CodeDType, prefixLen+int64(e.at), "tensor "+quote(e.name)+" has element type "+quote(f.format(e))+", expected one that arrays have")
	}
	if err := f.tooLarge(e); err != nil {
		return nil, err
	}
	if f.r != nil && !packed(e.format) {
		return f.load(e)
	}
	b := []byte(nil)
	if f.r == nil {
		b = f.data[e.begin:e.end:e.end]
	} else {
		b = make([]byte, e.end-e.begin)
	}
	if err := f.read(e, b); err != nil {
		return nil, err
	}
	if packed(e.format) {
		f.copied.Add(int64(len(b)))
		a := array.New(d, f.shape(e, nil)...)
		array.Unpack(d, array.Bytes(a), b)
		return a, nil
	}
	a, shared := array.FromBytes(b, d, f.shape(e, nil)...)
	if !shared {
		f.copied.Add(int64(len(b)))
	}
	return a, nil
}

// tooLarge refuses a tensor that needs memory of its own, and more than there may be.
func (f *File) tooLarge(e *entry) error {
	n := e.end - e.begin
	if packed(e.format) {
		n *= 8 / formats[e.format].bits
	}
	if err := array.TooLarge("safetensors: tensor "+quote(e.name), n); err != nil {
		return err
	}
	return nil
}

// load reads a tensor from the file into memory of its own.
func (f *File) load(e *entry) (*array.Array, error) {
	a := array.New(e.dtype(), f.shape(e, nil)...)
	b := a.Storage().Bytes()[:e.end-e.begin]
	if err := f.read(e, b); err != nil {
		return nil, err
	}
	if a.DType() == array.Bool {
		array.Truths(b)
	}
	return a, nil
}

// read fills b with the data of a tensor, unless b is that data, and compares it with
// its checksum.
func (f *File) read(e *entry, b []byte) error {
	if f.r != nil {
		if err := readAt(f.r, b, f.start+e.begin); err != nil {
			return err
		}
	}
	return f.check(e, b)
}
