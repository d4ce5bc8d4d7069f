package torchpt

import (
	"bytes"
	"encoding/binary"
	"strconv"
	"sync"
	"unsafe"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
)

// The format before PyTorch 1.6: pickles one after the other, of a magic number, of the
// version of the format, of the machine, of the saved object and of the keys of its
// storages. The storages follow in the order of the keys, each preceded by its number
// of elements.

// magic are the bytes of the number that such a file begins with.
const magic = "\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19"

const legacyVersion = 1001

// IsLegacy reports whether a file is in the format before PyTorch 1.6: its first pickle is
// that of a magic number, in whatever protocol it was written.
func IsLegacy(b []byte) bool {
	return len(b) > 1 && b[0] == 0x80 && bytes.Contains(b[:min(len(b), 32)], []byte(magic))
}

// region is the memory of a storage in a file.
type region struct {
	size  int64
	bytes func() ([]byte, error)
}

// readLegacy reads a file in the format before PyTorch 1.6.
func (f *File) readLegacy(b []byte) error {
	s := &stream{b: b}
	s.next("the magic number")
	if v, _ := s.next("the version of the format").(int64); s.err == nil && v != legacyVersion {
		s.err = diag.New(CodeFormat, "torch: version of the format is "+digits(v)+", expected "+strconv.Itoa(legacyVersion))
	}
	if info, _ := s.next("the machine").(*dict); s.err == nil && (info == nil || !isTrue(info, "little_endian")) {
		s.err = diag.New(CodeFormat, "torch: file is of a big-endian machine, or does not say what it is of, expected a little-endian one")
	}
	v := s.next("what was saved")
	m := s.machine
	keys, isList := s.next("the keys of the storages").(*seq)
	if s.err != nil {
		return s.err
	}
	if len(m.refused) > 0 {
		return refusals(m.refused)
	}
	if m.unlike != "" {
		return diag.New(CodeSyntax, "torch: storage "+quote(m.unlike)+" has several types or sizes, expected one")
	}
	if !isList {
		return diag.New(CodeSyntax, "torch: got no list of the storages' keys, expected one after the saved object")
	}
	regions, err := s.storages(m, keys.items)
	if err != nil {
		return err
	}
	w := &walk{file: f, data: func(key string) *region { return regions[key] }}
	w.value(v, 0)
	return w.errs.Err()
}

func isTrue(d *dict, key string) bool {
	i, ok := d.at[key]
	return ok && d.values[i] == true
}

// stream is a file of pickles.
type stream struct {
	b       []byte
	at      int
	machine *machine // that ran the last pickle
	err     error
}

// next runs the next pickle and returns its value.
func (s *stream) next(what string) any {
	if s.err != nil {
		return nil
	}
	m := &machine{}
	rest := s.b[s.at:]
	v := m.run(rest[:min(len(rest), maxPickle)])
	if m.err != nil {
		e := *m.err
		e.Msg += " (the pickle of " + what + ", at byte " + strconv.Itoa(s.at) + " of the file)"
		s.err = &e
		return nil
	}
	s.at += m.i
	s.machine = m
	return v
}

// storages finds the storages that a pickle names, which follow the pickles.
func (s *stream) storages(m *machine, keys []any) (map[string]*region, error) {
	regions := make(map[string]*region, len(m.storages))
	for _, k := range keys {
		key, ok := keyOf(k)
		st := m.storages[key]
		switch {
		case !ok || st == nil:
			return nil, diag.New(CodeSyntax, "torch: there is a storage "+quote(key)+", expected one that a tensor names")
		case regions[key] != nil:
			return nil, diag.New(CodeSyntax, "torch: storage "+quote(key)+" is there twice, expected once")
		}
		size := int64(1)
		if st.dtype != nil {
			size = int64(st.dtype.size)
		}
		left := int64(len(s.b) - s.at - 8)
		if left < 0 || st.n > left/size {
			return nil, diag.New(CodeFormat, "torch: storage "+quote(key)+" of "+digits(st.n)+" elements is cut off at the end of the file")
		}
		if have := binary.LittleEndian.Uint64(s.b[s.at:]); have != uint64(st.n) {
			return nil, diag.New(CodeFormat, "torch: storage "+quote(key)+" has "+strconv.FormatUint(have, 10)+" elements, expected "+digits(st.n)+" as its tensors say")
		}
		s.at += 8
		regions[key] = inPlace(s.b[s.at:s.at+int(st.n*size)], int(size))
		s.at += int(st.n * size)
	}
	return regions, nil
}

// inPlace is a storage that lies in a file. Where elements do not lie as the processor reads
// them, all tensors of the storage share one copy.
func inPlace(b []byte, size int) *region {
	return &region{size: int64(len(b)), bytes: sync.OnceValues(func() ([]byte, error) {
		if len(b) == 0 || uintptr(unsafe.Pointer(unsafe.SliceData(b)))%uintptr(size) == 0 {
			return b, nil
		}
		if err := array.TooLarge("torch: a storage", int64(len(b))); err != nil {
			return nil, err
		}
		s := array.NewStorage(len(b))
		copy(s.Bytes(), b)
		return s.Bytes(), nil
	})}
}
