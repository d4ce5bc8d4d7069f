package safetensors

import (
	"io"
	"strconv"
	"sync/atomic"
	"unsafe"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
)

// MaxHeader is the greatest length of a header, as in the reference reader.
const MaxHeader = 100_000_000

const (
	maxRank   = 64
	metaKey   = "__metadata__"
	prefixLen = 8
)

// File is an open file. Its methods may be called from several goroutines at once.
type File struct {
	header  string
	entries list[entry]
	byName  []int32 // indices of entries, sorted by name
	metaAt  int     // place of the metadata object in the header, 0 for none
	data    []byte  // the data section, when all of the file is in memory
	r       io.ReaderAt
	start   int64 // offset in the file of the data section
	summed  bool  // the metadata has checksums
	copied  atomic.Int64
	close   func() error // of memory that Map made
	closed  atomic.Bool
}

// entry is a tensor as the header describes it. It is small, and the shape stays
// in the header, so that a hostile header costs little more than its length.
type entry struct {
	name       string
	begin, end int64 // in the data section
	at         int32 // place of the name in the header
	shapeAt    int32 // place of the shape in the header
	format     uint8 // index in formats
	hasSum     bool
	sum        uint32 // of the data
}

// list grows without copying its elements: doubling would allocate several
// times the final size.
type list[T any] struct{ blocks [][]T }

const block = 256

func (l *list[T]) add(v T) {
	if n := len(l.blocks); n == 0 || len(l.blocks[n-1]) == block {
		l.blocks = append(l.blocks, make([]T, 0, block))
	}
	last := &l.blocks[len(l.blocks)-1]
	*last = append(*last, v)
}

func (l *list[T]) len() int {
	if n := len(l.blocks); n > 0 {
		return (n-1)*block + len(l.blocks[n-1])
	}
	return 0
}

func (l *list[T]) at(i int) *T { return &l.blocks[uint(i)/block][uint(i)%block] }

// sorted returns the indices of l's elements in order; equal ones keep theirs.
func (l *list[T]) sorted(atMost func(a, b *T) bool) []int32 {
	return mergeSorted(l.len(), func(i, j int32) bool { return atMost(l.at(int(i)), l.at(int(j))) })
}

// mergeSorted returns 0 to n-1 in the order of atMost, equal ones as they were. It
// merges runs of double length each time; package slices would be three times as
// much code in small programs.
func mergeSorted(n int, atMost func(i, j int32) bool) []int32 {
	from, to := make([]int32, n), make([]int32, n)
	for i := range from {
		from[i] = int32(i)
	}
	for run := 1; run < n; run *= 2 {
		for start := 0; start < n; start += 2 * run {
			a, b := start, min(start+run, n)
			endA, endB := b, min(b+run, n)
			for k := start; k < endB; k++ {
				if b == endB || a < endA && atMost(from[a], from[b]) {
					to[k] = from[a]
					a++
				} else {
					to[k] = from[b]
					b++
				}
			}
		}
		from, to = to, from
	}
	return from
}

// Open reads the header of a file of the given size; data is read by Get. The
// error is a *diag.Error with one of this package's codes.
func Open(r io.ReaderAt, size int64) (*File, error) {
	var prefix [prefixLen]byte
	if size < prefixLen {
		return nil, fault(CodeSize, 0, "file has "+digits(size)+" bytes, expected at least 8")
	}
	if err := readAt(r, prefix[:], 0); err != nil {
		return nil, err
	}
	n, err := headerLen(prefix[:], size)
	if err != nil {
		return nil, err
	}
	header := make([]byte, n)
	if err := readAt(r, header, prefixLen); err != nil {
		return nil, err
	}
	f := &File{r: r, start: prefixLen + n}
	// The header is not changed after this, so strings may share it.
	return f.parse(unsafe.String(unsafe.SliceData(header), len(header)), size)
}

// Parse reads a file in memory, which must not change as long as the File or an
// array from it is in use: arrays share b where the alignment allows, and are
// copies where it does not.
func Parse(b []byte) (*File, error) { return parse(b, false) }

// Close gives back the memory of a file that Map mapped; of others it does nothing. Get
// fails after it, and arrays that share the file's memory must not be used any more, nor be
// in use. Names stay.
func (f *File) Close() error {
	if f.close == nil || f.closed.Swap(true) {
		return nil
	}
	return f.close()
}

// parse is Parse, with a header of its own when it is to be kept for longer than b.
func parse(b []byte, keep bool) (*File, error) {
	if len(b) < prefixLen {
		return nil, fault(CodeSize, 0, "file has "+digits(int64(len(b)))+" bytes, expected at least 8")
	}
	n, err := headerLen(b, int64(len(b)))
	if err != nil {
		return nil, err
	}
	f := &File{start: prefixLen + n, data: b[prefixLen+n:]}
	if keep {
		return f.parse(string(b[prefixLen:prefixLen+n]), int64(len(b)))
	}
	return f.parse(unsafe.String(unsafe.SliceData(b[prefixLen:]), int(n)), int64(len(b)))
}

func readError(at int64, err error) *diag.Error {
	e := fault(CodeRead, at, "cannot read")
	e.Err = err
	return e
}

// readAt fills b; a reader may report the end together with the last bytes.
func readAt(r io.ReaderAt, b []byte, off int64) error {
	if n, err := r.ReadAt(b, off); n < len(b) {
		return readError(off+int64(n), err)
	}
	return nil
}

func headerLen(prefix []byte, size int64) (int64, error) {
	n := getLength(prefix)
	if n > MaxHeader {
		return 0, fault(CodeSize, 0, "header has "+strconv.FormatUint(n, 10)+" bytes, expected at most "+digits(int64(MaxHeader)))
	}
	if int64(n) > size-prefixLen {
		return 0, fault(CodeSize, 0, "header has "+strconv.FormatUint(n, 10)+" bytes, expected at most the "+digits(size-prefixLen)+" that follow")
	}
	return int64(n), nil
}

// parse reads the header, checks it against the size of the file, and returns f.
func (f *File) parse(header string, size int64) (*File, error) {
	if !array.LittleEndian() {
		return nil, diag.New(CodeRead, "safetensors: machine is big-endian, expected a little-endian one")
	}
	f.header = header
	p := newScanner(header, 0)
	p.object(func(key string, at int) {
		if key == metaKey {
			f.checkMeta(p, at)
		} else {
			f.entries.add(readEntry(p, key, at))
		}
	})
	if p.Peek() != 0 || p.Err == nil && p.I < len(p.S) {
		p.Expected("nothing more")
	}
	if p.Err == nil {
		p.Err = f.checkNames()
	}
	if p.Err == nil {
		p.Err = f.checkData(size - f.start)
	}
	if p.Err != nil {
		return nil, p.Err
	}
	f.readSums()
	return f, nil
}

// checkMeta checks the metadata, which Metadata reads again when asked.
func (f *File) checkMeta(p *scanner, at int) {
	if f.metaAt != 0 {
		p.fail(at, CodeName, metaKey+" occurs twice, expected once")
		return
	}
	p.Peek()
	f.metaAt = p.I
	var keys list[uint64]
	p.object(func(key string, _ int) {
		keys.add(fnv(fnvStart, key))
		p.str()
	})
	// Hashes stand for the keys: they are small, and two keys of one hash in
	// one file are as good as a fault.
	all := keys.sorted(func(a, b *uint64) bool { return *a <= *b })
	for i := 1; i < len(all); i++ {
		if *keys.at(int(all[i])) == *keys.at(int(all[i-1])) {
			p.fail(at, CodeName, "a metadata key occurs twice, expected once")
		}
	}
}

// Metadata returns the strings stored with the tensors in a new map; it is empty
// when there are none.
func (f *File) Metadata() map[string]string {
	meta := map[string]string{}
	if f.metaAt != 0 {
		p := newScanner(f.header, f.metaAt)
		p.object(func(key string, _ int) { meta[key] = p.str() })
	}
	return meta
}

// readEntry reads {"dtype":"F32","shape":[2],"data_offsets":[0,8]}, in any order.
func readEntry(p *scanner, name string, at int) entry {
	e := entry{name: name, at: int32(at)}
	var seen [3]bool
	once := func(i, at int, key string) {
		if seen[i] {
			p.fail(at, CodeName, quote(key)+" occurs twice, expected once")
		}
		seen[i] = true
	}
	p.object(func(key string, at int) {
		switch key {
		case "dtype":
			once(0, at, key)
			e.format = formatNamed(p.str())
		case "shape":
			once(1, at, key)
			p.Peek()
			e.shapeAt = int32(p.I)
			p.ints(p.buf[:])
		case "data_offsets":
			once(2, at, key)
			o := p.ints(p.buf[:2])
			if p.Err == nil && len(o) != 2 {
				p.Fail(at, "data_offsets has "+digits(int64(len(o)))+" numbers, expected 2")
			}
			e.begin, e.end = p.buf[0], p.buf[1]
		default:
			p.Fail(at, "found key "+quote(key)+", expected dtype, shape or data_offsets")
		}
	})
	if p.Err == nil && seen != [3]bool{true, true, true} {
		p.Fail(at, "tensor "+quote(name)+" lacks a key, expected dtype, shape and data_offsets")
	}
	return e
}

// shape reads the shape again from the header, where parse has checked it, into
// a slice over buf or of its own.
func (f *File) shape(e *entry, buf []int) []int {
	p := newScanner(f.header, int(e.shapeAt))
	for _, d := range p.ints(p.buf[:]) {
		if int64(int(d)) != d {
			d = -1 // beyond this machine; NumElems refuses it
		}
		buf = append(buf, int(d))
	}
	return buf
}

// checkNames sorts the tensors by name and refuses names that occur twice.
func (f *File) checkNames() error {
	f.byName = f.entries.sorted(func(a, b *entry) bool { return a.name <= b.name })
	for i := 1; i < len(f.byName); i++ {
		if e := f.entries.at(int(f.byName[i])); e.name == f.entries.at(int(f.byName[i-1])).name {
			return fault(CodeName, prefixLen+int64(e.at), "tensor "+quote(e.name)+" occurs twice, expected once")
		}
	}
	return nil
}

// checkData compares the entries with each other and with the data section: the
// tensors must cover it exactly, without gaps, as the format demands.
func (f *File) checkData(size int64) error {
	buf := make([]int, 0, maxRank)
	for i := range f.entries.len() {
		e := f.entries.at(i)
		at := prefixLen + int64(e.at)
		if e.begin > e.end || e.end > size {
			return fault(CodeRange, at, "tensor "+quote(e.name)+" has data_offsets ["+digits(e.begin)+","+
				digits(e.end)+"], expected a range within "+digits(size)+" bytes")
		}
		if n, ok := array.NumElems(f.shape(e, buf)); !ok || !e.holds(int64(n)) {
			have := e.end - e.begin
			return fault(CodeLength, at, "tensor "+quote(e.name)+" has "+digits(have)+" bytes, expected the product of shape and element size")
		}
	}
	end := int64(0)
	for _, i := range f.entries.sorted(func(a, b *entry) bool { return a.begin < b.begin || a.begin == b.begin && a.end <= b.end }) {
		e := f.entries.at(int(i))
		if e.begin != end {
			what := "overlaps the tensor before it"
			if e.begin > end {
				what = "leaves a gap"
			}
			return fault(CodeOverlap, prefixLen+int64(e.at), "tensor "+quote(e.name)+" begins at "+digits(e.begin)+
				" of the data and "+what+", expected it to begin at "+digits(end))
		}
		end = e.end
	}
	if end != size {
		return fault(CodeOverlap, f.start+end, digits(size-end)+" bytes belong to no tensor, expected none")
	}
	return nil
}

// holds reports whether n elements take the bytes that the entry has. Of types whose
// size is not known nobody can tell.
func (e *entry) holds(n int64) bool {
	return e.format == unknown || fits(e.format, n, e.end-e.begin)
}

// digits writes a number for messages.
func digits(n int64) string { return strconv.FormatInt(n, 10) }

// quote quotes hostile text for messages, shortened. As it is called in many
// places, it is not inlined.
//
//go:noinline
func quote(s string) string {
	if len(s) > 64 {
		s = s[:64] + "..."
	}
	return diag.Quote(s)
}
