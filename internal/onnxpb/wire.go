package onnxpb

import (
	"encoding/binary"
	"math"
	"strconv"
	"unsafe"

	"github.com/gofx-dev/gofx/diag"
)

// Limits of the resources that a file can make a reader use.
const (
	MaxDepth     = 100       // messages inside messages: bodies of If, Loop and Scan, types
	MaxStructure = 256 << 20 // bytes of structs, names and small attributes, tensor data not counted
)

// message is a message that this package reads and writes.
type message interface {
	// fields tells f every field of the message; f reads or writes it.
	fields(f *field)
}

// Wire types.
const (
	varint = 0
	fixed8 = 1 // eight bytes
	length = 2
	fixed4 = 5 // four bytes
)

// field is the one place of a message that is being read, or the end of what has
// been written. Reading calls message.fields once for each field on the wire, which
// takes the one whose number it is.
type field struct {
	reading bool
	// Reading: the field's number and wire type, and its contents.
	number, wire int
	value        uint64
	body         []byte
	at           int // offset of body in the file
	state        *state
	depth        int
	// Writing.
	out []byte
}

// state is shared by the messages of a file.
type state struct {
	file  []byte
	spent int // of MaxStructure
	err   *diag.Error
	// Tensors that name other files, in the order of the file.
	outside []*Tensor
	// One for each depth, which the messages there use one after the other: they
	// would take half of all memory otherwise.
	fields []*field
}

// at returns the field for a message at a depth. Those around it have theirs.
func (s *state) at(depth int) *field {
	if depth == len(s.fields) {
		s.fields = append(s.fields, new(field))
	}
	f := s.fields[depth]
	*f = field{reading: true, state: s, depth: depth}
	return f
}

func (s *state) fail(at int, msg string) {
	if s.err == nil {
		s.err = diag.New(CodeMalformed, "byte "+strconv.Itoa(at)+": "+msg)
	}
}

// spend counts n bytes of structure.
func (s *state) spend(at, n int) bool {
	if s.spent += n; s.spent > MaxStructure {
		s.fail(at, "the structure of the file takes more than "+strconv.Itoa(MaxStructure>>20)+" MiB")
	}
	return s.err == nil
}

// Read fills m from a serialized message. m shares data's memory.
func Read(data []byte, m message) error {
	_, err := ReadWith(data, m)
	return err
}

// ReadWith is Read, and returns the tensors, wherever they stand in the message, that name the
// files of their data.
func ReadWith(data []byte, m message) (outside []*Tensor, err error) {
	s := &state{file: data}
	s.read(data, 0, 0, m)
	if s.err != nil {
		return nil, s.err
	}
	return s.outside, nil
}

// read fills m from body, which starts at byte base of the file.
func (s *state) read(body []byte, base, depth int, m message) {
	if depth > MaxDepth {
		s.fail(base, "messages are nested more than "+strconv.Itoa(MaxDepth)+" deep")
		return
	}
	f := s.at(depth)
	for i := 0; i < len(body) && s.err == nil; {
		n := f.next(body[i:], base+i)
		if n == 0 {
			return
		}
		i += n
		m.fields(f)
	}
}

// next reads one field's tag and contents and returns their length, 0 after an error.
func (f *field) next(b []byte, at int) int {
	tag, n := binary.Uvarint(b)
	if n <= 0 || tag>>3 == 0 || tag>>3 > 1<<29-1 {
		f.state.fail(at, "a field's number is wrong or cut off")
		return 0
	}
	f.number, f.wire, f.body, f.at = int(tag>>3), int(tag&7), nil, at+n
	size := 0
	switch f.wire {
	case varint:
		var m int
		if f.value, m = binary.Uvarint(b[n:]); m <= 0 {
			f.state.fail(at+n, "a number is cut off or has more than 64 bits")
			return 0
		}
		return n + m
	case fixed8:
		size = 8
	case fixed4:
		size = 4
	case length:
		l, m := binary.Uvarint(b[n:])
		if m <= 0 || l > uint64(len(b)-n-m) {
			f.state.fail(at+n, "field "+strconv.Itoa(f.number)+" is longer than what is left of the message around it")
			return 0
		}
		n += m
		f.at, size = at+n, int(l)
	default:
		f.state.fail(at, "field "+strconv.Itoa(f.number)+" has wire type "+strconv.Itoa(f.wire)+", which no field of ONNX has")
		return 0
	}
	if len(b)-n < size {
		f.state.fail(at+n, "field "+strconv.Itoa(f.number)+" is cut off")
		return 0
	}
	f.body = b[n : n+size]
	switch f.wire {
	case fixed8:
		f.value = binary.LittleEndian.Uint64(f.body)
	case fixed4:
		f.value = uint64(binary.LittleEndian.Uint32(f.body))
	}
	return n + size
}

// is reports whether the field being read is number n, of one of the wire types.
func (f *field) is(n int, wires ...int) bool {
	if f.number != n {
		return false
	}
	for _, w := range wires {
		if f.wire == w {
			return true
		}
	}
	f.state.fail(f.at, "field "+strconv.Itoa(n)+" has wire type "+strconv.Itoa(f.wire)+", expected "+strconv.Itoa(wires[0]))
	return false
}

func (f *field) tag(n, wire int) { f.out = binary.AppendUvarint(f.out, uint64(n)<<3|uint64(wire)) }

// number64 is a field of an integer or enumeration; 0 is not written.
func (f *field) number64(n int, v *int64) {
	switch {
	case f.reading:
		if f.is(n, varint) {
			*v = int64(f.value)
		}
	case *v != 0:
		f.tag(n, varint)
		f.out = binary.AppendUvarint(f.out, uint64(*v))
	}
}

// number32 is number64 for an int32; larger numbers are cut as the format says.
func (f *field) number32(n int, v *int32) {
	w := int64(*v)
	f.number64(n, &w)
	*v = int32(w)
}

// float is a field of a float.
func (f *field) float(n int, v *float32) {
	switch {
	case f.reading:
		if f.is(n, fixed4) {
			*v = math.Float32frombits(uint32(f.value))
		}
	case math.Float32bits(*v) != 0:
		f.tag(n, fixed4)
		f.out = binary.LittleEndian.AppendUint32(f.out, math.Float32bits(*v))
	}
}

// text is a field of a string.
func (f *field) text(n int, v *string) {
	switch {
	case f.reading:
		if f.is(n, length) && f.state.spend(f.at, len(f.body)) {
			*v = string(f.body)
		}
	case *v != "":
		f.tag(n, length)
		f.out = append(binary.AppendUvarint(f.out, uint64(len(*v))), *v...)
	}
}

// data is a field of bytes, which share the file's memory. nil is not written.
func (f *field) data(n int, v *[]byte) {
	switch {
	case f.reading:
		if f.is(n, length) {
			*v = f.body[:len(f.body):len(f.body)]
		}
	case *v != nil:
		f.tag(n, length)
		f.out = append(binary.AppendUvarint(f.out, uint64(len(*v))), *v...)
	}
}

// texts is a repeated field of strings.
func (f *field) texts(n int, v *[]string) {
	if f.reading {
		if f.is(n, length) && f.state.spend(f.at, len(f.body)+16) {
			*v = append(*v, string(f.body))
		}
		return
	}
	for i := range *v {
		f.tag(n, length)
		f.out = append(binary.AppendUvarint(f.out, uint64(len((*v)[i]))), (*v)[i]...)
	}
}

// blobs is a repeated field of bytes.
func (f *field) blobs(n int, v *[][]byte) {
	if f.reading {
		if f.is(n, length) && f.state.spend(f.at, 24) {
			*v = append(*v, f.body)
		}
		return
	}
	for _, b := range *v {
		f.tag(n, length)
		f.out = append(binary.AppendUvarint(f.out, uint64(len(b))), b...)
	}
}

// numbers is a repeated field of integers, packed in one field or each on its own.
// It is written packed when packed is set.
func (f *field) numbers(n int, v *[]int64, packed bool) {
	switch {
	case f.reading && f.is(n, length, varint):
		if f.wire == varint {
			if f.state.spend(f.at, 8) {
				*v = append(*v, int64(f.value))
			}
			return
		}
		f.unpack(v)
	case f.reading || len(*v) == 0:
	case packed:
		var body []byte
		for _, x := range *v {
			body = binary.AppendUvarint(body, uint64(x))
		}
		f.data(n, &body)
	default:
		for _, x := range *v {
			f.tag(n, varint)
			f.out = binary.AppendUvarint(f.out, uint64(x))
		}
	}
}

func (f *field) unpack(v *[]int64) {
	if !f.state.spend(f.at, 8*len(f.body)) {
		return
	}
	for i := 0; i < len(f.body); {
		x, m := binary.Uvarint(f.body[i:])
		if m <= 0 {
			f.state.fail(f.at+i, "a number is cut off or has more than 64 bits")
			return
		}
		*v, i = append(*v, int64(x)), i+m
	}
}

// fixed is a repeated field of floats or doubles of the given size: their bytes,
// which share the file's memory where they are packed.
func (f *field) fixed(n, size int, v *[]byte) {
	if !f.reading {
		f.data(n, v)
		return
	}
	wire := fixed4
	if size == 8 {
		wire = fixed8
	}
	if !f.is(n, length, wire) {
		return
	}
	if len(f.body)%size != 0 {
		f.state.fail(f.at, "field "+strconv.Itoa(n)+" has "+strconv.Itoa(len(f.body))+" bytes, which is no multiple of "+strconv.Itoa(size))
		return
	}
	if f.wire == length && *v == nil {
		*v = f.body[:len(f.body):len(f.body)]
		return
	}
	if f.state.spend(f.at, len(f.body)) {
		*v = append(*v, f.body...)
	}
}

// one is a field of a message; nil is not written. The parts of one that comes
// several times are merged, as the format says.
func one[T any, P interface {
	*T
	message
}](f *field, n int, v *P) {
	switch {
	case f.reading:
		if !f.is(n, length) || !f.state.spend(f.at, int(unsafe.Sizeof(*new(T)))) {
			return
		}
		if *v == nil {
			*v = new(T)
		}
		f.state.read(f.body, f.at, f.depth+1, *v)
	case *v != nil:
		f.write(n, *v)
	}
}

// many is a repeated field of messages.
func many[T any, P interface {
	*T
	message
}](f *field, n int, v *[]P) {
	if !f.reading {
		for _, m := range *v {
			f.write(n, m)
		}
		return
	}
	if !f.is(n, length) || !f.state.spend(f.at, int(unsafe.Sizeof(*new(T)))+8) {
		return
	}
	m := P(new(T))
	*v = append(*v, m)
	f.state.read(f.body, f.at, f.depth+1, m)
}

// write appends a message: its length is written after it first, then moved.
func (f *field) write(n int, m message) {
	f.tag(n, length)
	body := field{}
	m.fields(&body)
	f.out = append(binary.AppendUvarint(f.out, uint64(len(body.out))), body.out...)
}

// Append appends the serialized message to b.
func Append(b []byte, m message) []byte {
	f := field{out: b}
	m.fields(&f)
	return f.out
}

func appendVarint(b []byte, v int64) []byte { return binary.AppendUvarint(b, uint64(v)) }
