package gguf

import (
	"encoding/binary"
	"slices"
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/internal/blocks"
	"github.com/gofx-dev/gofx/internal/mapfile"
)

const (
	magic            = "GGUF"
	defaultAlignment = 32
	maxRank          = 8
	alignmentKey     = "general.alignment"
	leastEntry       = 8 + 4 + 1     // bytes of the smallest pair of the metadata
	leastTensor      = 8 + 4 + 4 + 8 // bytes of the smallest description of a tensor
)

// File is an open file. Its methods may be called from several goroutines at once.
type File struct {
	version uint32
	pairs   []pair
	keys    map[string]int // of pairs
	tensors []info
	names   map[string]int // of tensors
	data    []byte         // of the tensors
	start   int64          // place of data in the file
	all     []byte
	mem     *mapfile.Memory // that Open made
}

// info is a tensor as the file describes it.
type info struct {
	name   string
	shape  []int // the innermost axis last
	kind   uint32
	offset int64 // in the data section
	size   int64 // in bytes, -1 for types of unknown size
}

// Open opens a file, mapped where the system can: the memory is given back by Close, and
// the file must be replaced, not written over, until then. The error is a *diag.Error with
// one of this package's codes; nothing of a refused file stays mapped.
func Open(path string) (*File, error) {
	mem, err := mapfile.ReadPath(path)
	if err != nil {
		return nil, &diag.Error{Code: CodeRead, Msg: "gguf", Err: err}
	}
	f, err := Parse(mem.Bytes())
	if err != nil {
		err.(*diag.Error).Pos.File = path
		return nil, mem.Refuse(err)
	}
	f.mem = mem
	return f, nil
}

// Close gives back the memory of a file that Open mapped. The File and arrays that share
// its memory must not be used any more, nor be in use.
func (f *File) Close() error { return f.mem.Close() }

// Parse reads a file in memory, which must not change as long as the File or an array
// from it is in use.
func Parse(b []byte) (*File, error) {
	f, err := parse(b)
	if err != nil { // not a nil pointer in an interface
		return nil, err
	}
	return f, nil
}

func parse(b []byte) (*File, *diag.Error) {
	if !array.LittleEndian() {
		return nil, diag.New(CodeRead, "gguf: machine is big-endian, expected a little-endian one")
	}
	r := &reader{b: b}
	f := &File{all: b, keys: map[string]int{}, names: map[string]int{}}
	if m := r.take(4); string(m) != magic {
		return nil, fault(0, "file begins with "+quote(string(b[:min(4, len(b))]))+", expected "+quote(magic))
	}
	switch f.version = r.u32(); {
	case f.version == 2 || f.version == 3:
	case f.version>>16 != 0 && f.version&0xffff == 0:
		return nil, fault(4, "file is big-endian, expected a little-endian one").WithHint("convert the model for this kind of machine")
	default:
		return nil, fault(4, "version is "+strconv.FormatUint(uint64(f.version), 10)+", expected 2 or 3").WithHint("convert the model again with a current program")
	}
	nTensors, nPairs := r.count(leastTensor), r.count(leastEntry)
	f.readPairs(r, nPairs)
	f.readTensors(r, nTensors)
	if r.err != nil {
		return nil, r.err
	}
	return f, f.place(r.at)
}

func (f *File) readPairs(r *reader, n int) {
	f.pairs = make([]pair, 0, min(n, 1<<12))
	for range n {
		at := r.at
		p := pair{key: r.str(), kind: r.u32()}
		p.at = r.at
		r.skip(p.kind, 0)
		if r.err != nil {
			return
		}
		if _, twice := f.keys[p.key]; twice {
			r.fail(at, "key "+quote(p.key)+" occurs twice, expected once")
			return
		}
		f.keys[p.key] = len(f.pairs)
		f.pairs = append(f.pairs, p)
	}
}

func (f *File) readTensors(r *reader, n int) {
	f.tensors = make([]info, 0, min(n, 1<<12))
	for range n {
		at := r.at
		t := info{name: r.str()}
		rank := r.u32()
		if rank > maxRank {
			r.fail(at, "tensor "+quote(t.name)+" has "+strconv.FormatUint(uint64(rank), 10)+" dimensions, expected at most "+strconv.Itoa(maxRank))
		}
		if r.err != nil {
			return
		}
		t.shape = make([]int, rank)
		for i := range t.shape {
			d := r.u64()
			if d > 1<<62 || uint64(int(d)) != d {
				r.fail(at, "tensor "+quote(t.name)+" has a dimension of "+strconv.FormatUint(d, 10)+", expected a smaller one")
				return
			}
			t.shape[len(t.shape)-1-i] = int(d)
		}
		t.kind = r.u32()
		offset := r.u64()
		if r.err != nil {
			return
		}
		if _, twice := f.names[t.name]; twice {
			r.fail(at, "tensor "+quote(t.name)+" occurs twice, expected once")
			return
		}
		if msg := t.measure(); msg != "" {
			r.fail(at, "tensor "+quote(t.name)+" "+msg)
			return
		}
		t.offset = int64(min(offset, 1<<62))
		f.names[t.name] = len(f.tensors)
		f.tensors = append(f.tensors, t)
	}
}

// measure sets the size in bytes of a tensor; it returns an error for a bad shape.
func (t *info) measure() string {
	n, ok := array.NumElems(t.shape)
	k := kindOf(t.kind)
	t.size = -1
	switch {
	case !ok:
		return "has a shape whose product is out of range, expected a smaller one"
	case k == nil:
		return ""
	case k.block > 1 && (len(t.shape) == 0 || t.shape[len(t.shape)-1]%k.block != 0):
		return "is of type " + k.name + " and its rows are no multiple of " + strconv.Itoa(k.block) + ", expected one"
	case int64(n/k.block) > 1<<50:
		return "has " + strconv.Itoa(n) + " elements, expected fewer"
	}
	t.size = int64(n/k.block) * int64(k.bytes)
	return ""
}

// place finds the data section, in which each tensor begins where the one before it
// ends, at the next multiple of the alignment.
func (f *File) place(end int) *diag.Error {
	align := int64(defaultAlignment)
	if i, ok := f.keys[alignmentKey]; ok {
		v, ok := f.value(f.pairs[i]).(uint32)
		if !ok || v == 0 || v%8 != 0 || v > 1<<20 {
			return fault(f.pairs[i].at, alignmentKey+" is no multiple of 8 below a million, expected one")
		}
		align = int64(v)
	}
	up := func(n int64) int64 { return (n + align - 1) / align * align }
	f.start = min(up(int64(end)), int64(len(f.all)))
	f.data = f.all[f.start:]
	next := int64(0)
	for i := range f.tensors {
		t := &f.tensors[i]
		switch {
		case next >= 0 && t.offset != next, t.offset%align != 0:
			return fault(end, "tensor "+quote(t.name)+" begins at "+strconv.FormatInt(t.offset, 10)+" of the data, expected "+strconv.FormatInt(max(next, 0), 10))
		case t.offset > int64(len(f.data)) || t.size > int64(len(f.data))-t.offset:
			return fault(end, "tensor "+quote(t.name)+" ends after the "+strconv.Itoa(len(f.data))+" bytes of data, expected all of it").
				WithHint("copy or download the file again, it is cut off")
		}
		if next = -1; t.size >= 0 {
			next = up(t.offset + t.size)
		}
	}
	return nil
}

// Version returns the version of the format that the file has.
func (f *File) Version() int { return int(f.version) }

// Names returns the names of the tensors in the order of the file.
func (f *File) Names() []string {
	names := make([]string, len(f.tensors))
	for i, t := range f.tensors {
		names[i] = t.name
	}
	return names
}

// Type returns the element type and shape of the array that Get returns; ok is false
// when there is no such tensor. The element type is Invalid where Get refuses.
func (f *File) Type(name string) (d array.DType, shape []int, ok bool) {
	i, ok := f.names[name]
	if !ok {
		return array.Invalid, nil, false
	}
	t := &f.tensors[i]
	if k := kindOf(t.kind); k != nil {
		d = k.dtype
	}
	return d, slices.Clone(t.shape), true
}

// Format returns the element type of a tensor as the format calls it, "Q4_K" for
// instance, "" when there is no such tensor.
func (f *File) Format(name string) string {
	i, ok := f.names[name]
	if !ok {
		return ""
	}
	return kindName(f.tensors[i].kind)
}

func kindName(kind uint32) string {
	if k := kindOf(kind); k != nil {
		return k.name
	}
	return "type " + strconv.FormatUint(uint64(kind), 10)
}

// find returns a tensor and its data.
func (f *File) find(name string) (*info, *kind, []byte, *diag.Error) {
	if f.mem.Closed() {
		return nil, nil, nil, diag.New(CodeRead, "gguf: the file was closed, expected an open one")
	}
	i, ok := f.names[name]
	if !ok {
		return nil, nil, nil, diag.New(CodeName, "gguf: no tensor "+quote(name)+" among "+strconv.Itoa(len(f.tensors))+", expected one of that name")
	}
	t := &f.tensors[i]
	k := kindOf(t.kind)
	if k == nil || k.dtype == array.Invalid {
		return nil, nil, nil, diag.New(CodeType, "gguf: tensor "+quote(name)+" is of "+kindName(t.kind)+", expected "+kindNames()).
			WithHint("convert the model to one of these types")
	}
	return t, k, f.data[t.offset : t.offset+t.size : t.offset+t.size], nil
}

// Get returns a tensor: one of floats or integers shares the file's memory where it is
// aligned; blocks are made f32, with the arithmetic of the format's reference, each
// product and each sum rounded. The error is a *diag.Error: CodeName, CodeType, or
// array.CodeTooLarge beyond array.MaxBytes.
func (f *File) Get(name string) (*array.Array, error) {
	t, k, b, err := f.find(name)
	if err != nil {
		return nil, err
	}
	if k.packed == nil {
		if err := array.TooLarge("gguf: tensor "+quote(name), t.size); err != nil {
			return nil, err
		}
		a, _ := array.FromBytes(b, k.dtype, t.shape...)
		return a, nil
	}
	n, _ := array.NumElems(t.shape)
	if err := array.TooLarge("gguf: tensor "+quote(name), 4*int64(n)); err != nil {
		return nil, err
	}
	a := array.New(array.F32, t.shape...)
	k.packed.Decode(array.Raw[float32](a), b)
	return a, nil
}

// Int4 returns a matrix of Q4_0 as it is, in the form of the operators int4_linear and
// int4_embedding with groups of 32: the weight u8 [n, k/2], two to a byte, the even one
// in the lower half, 8 stands for 0; the scale f32 [n, k/32]. Weight less 8 times scale
// is exactly what Get returns. ok is false for tensors of other types and ranks. The
// error is as with Get.
func (f *File) Int4(name string) (weight, scale *array.Array, ok bool, err error) {
	t, k, b, fail := f.find(name)
	if fail != nil {
		return nil, nil, false, fail
	}
	if t.kind != q4_0 || len(t.shape) != 2 {
		return nil, nil, false, nil
	}
	if err := array.TooLarge("gguf: tensor "+quote(name), t.size); err != nil {
		return nil, nil, false, err
	}
	weight = array.New(array.U8, t.shape[0], t.shape[1]/2)
	scale = array.New(array.F32, t.shape[0], t.shape[1]/k.block)
	w, s := array.Raw[uint8](weight), array.Raw[float32](scale)
	for i := range s {
		block := b[i*k.bytes : (i+1)*k.bytes]
		s[i] = array.Half(binary.LittleEndian.Uint16(block)).Float32()
		for j := range 8 { // the file stores element j next to element j+16
			lo, hi := block[2+2*j], block[2+2*j+1]
			w[16*i+j] = lo&15 | hi<<4
			w[16*i+8+j] = lo>>4 | hi&0xf0
		}
	}
	return weight, scale, true, nil
}

// Blocks returns a matrix of floats of 16 bits or of blocks as the file has it, in the form of the
// operators block_linear and block_embedding: the bytes u8 [n, those of a row], which share the
// file's memory, and the format that they name. The floats that it stands for are those that
// Get returns. ok is false for tensors of other types and ranks. The error is as with Get.
func (f *File) Blocks(name string) (weight *array.Array, format string, ok bool, err error) {
	t, k, b, fail := f.find(name)
	if fail != nil {
		return nil, "", false, fail
	}
	if len(t.shape) != 2 || blocks.Lookup(k.name) == nil {
		return nil, "", false, nil
	}
	if err := array.TooLarge("gguf: tensor "+quote(name), t.size); err != nil {
		return nil, "", false, err
	}
	weight, _ = array.FromBytes(b, array.U8, t.shape[0], t.shape[1]/k.block*k.bytes)
	return weight, k.name, true, nil
}
