package npy

import (
	"encoding/binary"
	"io"
	"slices"
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/internal/mapfile"
	"github.com/gofx-dev/gofx/internal/swap"
)

const (
	magic     = "\x93NUMPY"
	maxHeader = 1 << 16
	maxRank   = 64
	piece     = 1 << 20 // bytes read before more memory is asked for
)

var descrs = [...]struct {
	name  string
	dtype array.DType
}{
	{"f4", array.F32}, {"f8", array.F64}, {"f2", array.F16}, {"i1", array.I8}, {"u1", array.U8}, {"i2", array.I16}, {"u2", array.U16},
	{"i4", array.I32}, {"u4", array.U32}, {"i8", array.I64}, {"u8", array.U64}, {"b1", array.Bool},
}

// fault returns the error for a mistake at a byte of the file.
func fault(c diag.Code, at int, msg string) *diag.Error {
	return diag.New(c, "npy: byte "+strconv.Itoa(at)+": "+msg)
}

// Read reads one array whose data takes at most limit bytes; it reads no byte
// after the array. The array is contiguous. The error is a *diag.Error with one
// of this package's codes, or array.CodeTooLarge beyond array.MaxBytes.
func Read(r io.Reader, limit int64) (*array.Array, error) {
	h, err := readHeader(r)
	if err != nil {
		return nil, err
	}
	n, ok := array.NumElems(h.shape)
	size := h.dtype.Size()
	if !ok || int64(n) > limit/int64(size) {
		return nil, fault(CodeLimit, h.shapeAt, "array has more than "+strconv.FormatInt(limit, 10)+" bytes of data, expected at most as many")
	}
	s, err := readData(r, n*size, h.end)
	if err != nil {
		return nil, err
	}
	if h.dtype == array.Bool {
		array.Truths(s.Bytes()) // as NumPy, for which every byte but 0 is true
	}
	a := array.Make(h.dtype, nil, nil, 0, s)
	if h.fortran {
		slices.Reverse(h.shape)
	}
	a.Reset(h.dtype, h.shape)
	if h.swap {
		exchange(s.Bytes(), size)
	}
	if h.fortran {
		perm := make([]int, len(h.shape))
		for i := range perm {
			perm[i] = len(perm) - 1 - i
		}
		a = array.Contiguous(array.Permute(a, perm...))
	}
	return a, nil
}

// readData reads n bytes, asking for memory as they arrive.
func readData(r io.Reader, n, at int) (*array.Storage, error) {
	if err := array.TooLarge("npy: the array", int64(min(n, piece))); err != nil {
		return nil, err
	}
	s := array.NewStorage(min(n, piece))
	for have := 0; ; {
		k, err := io.ReadFull(r, s.Bytes()[have:])
		have += k
		if err != nil {
			e := fault(CodeRead, at+have, "data ends after "+strconv.Itoa(have)+" bytes, expected "+strconv.Itoa(n))
			e.Err = err
			return nil, e
		}
		if have == n {
			return s, nil
		}
		if err := array.TooLarge("npy: the array", int64(min(n, 2*have))); err != nil {
			return nil, err
		}
		more := array.NewStorage(min(n, 2*have))
		copy(more.Bytes(), s.Bytes())
		s = more
	}
}

// exchange reverses the bytes of each element.
func exchange(b []byte, size int) {
	for i := 0; i+size <= len(b); i += size {
		slices.Reverse(b[i : i+size])
	}
}

// bigEndian reports the byte order of this machine.
func bigEndian() bool {
	var b [2]byte
	binary.NativeEndian.PutUint16(b[:], 1)
	return b[1] == 1
}

// Write writes a in C order, in the byte order of the machine, as version 1.0.
// The error is a *diag.Error with CodeWrite for element types that NumPy lacks
// (bf16), or w's error.
func Write(w io.Writer, a *array.Array) error {
	name := ""
	for _, d := range descrs {
		if d.dtype == a.DType() {
			name = d.name
		}
	}
	if name == "" || a.Rank() > maxRank {
		return diag.New(CodeWrite, "npy: array has element type "+a.DType().String()+" and rank "+strconv.Itoa(a.Rank())+
			", expected an element type of NumPy and at most "+strconv.Itoa(maxRank)+" dimensions")
	}
	order := "<"
	switch {
	case a.DType().Size() == 1:
		order = "|"
	case bigEndian():
		order = ">"
	}
	h := append([]byte(magic), 1, 0, 0, 0)
	h = append(h, "{'descr': '"+order+name+"', 'fortran_order': False, 'shape': ("...)
	for i, d := range a.Shape() {
		if i > 0 {
			h = append(h, ' ')
		}
		h = append(strconv.AppendInt(h, int64(d), 10), ',')
	}
	if a.Rank() > 1 { // (3,) but (2, 3)
		h = h[:len(h)-1]
	}
	h = append(h, "), }"...)
	for (len(h)+1)%64 != 0 {
		h = append(h, ' ')
	}
	h = append(h, '\n')
	binary.LittleEndian.PutUint16(h[8:], uint16(len(h)-10))
	if _, err := w.Write(h); err != nil {
		return err
	}
	_, err := w.Write(array.Bytes(array.Contiguous(a)))
	return err
}

// ReadFile reads the array in a file; its size is the limit on the data. Bytes
// after the array are an error.
func ReadFile(path string) (*array.Array, error) {
	f, err := mapfile.Open(path)
	if err != nil {
		return nil, unreadable("npy", err)
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return nil, unreadable("npy", err)
	}
	a, err := Read(f, st.Size())
	if err == nil {
		if n, _ := f.Read(make([]byte, 1)); n > 0 {
			err = diag.New(CodeHeader, "npy: bytes follow the array, expected the end of the file")
		}
	}
	if err != nil {
		err.(*diag.Error).Pos.File = path
		return nil, err
	}
	return a, nil
}

// unreadable is the error of a file that the system does not give.
func unreadable(what string, err error) error {
	return (&diag.Error{Code: CodeRead, Msg: what, Err: err}).WithHint("check that the path is a file that can be read")
}

// unfinished begins the names of files that are being written.
const unfinished = ".npy-"

// WriteFile writes a to a file, all of it or nothing: readers see the old file
// or the new one.
func WriteFile(path string, a *array.Array) error {
	return swap.Write(path, unfinished, func(w io.Writer) error { return Write(w, a) })
}
