package torchpt

import (
	"bytes"
	"math"
	"strconv"

	"github.com/gofx-dev/gofx/diag"
)

// Limits of a pickle: more than the largest checkpoints need, and little enough that a
// hostile one fills no memory.
const (
	maxPickle = 32 << 20 // bytes
	maxSteps  = 8 << 20  // opcodes
	maxMade   = 2 << 20  // lists, tuples, dictionaries, tensors
	maxMemo   = 4 << 20
	maxStack  = 2 << 20
)

// Values on the machine's stack are nil, bool, int64, float64, string, []byte, and:
type (
	// seq is a tuple, a list or a set.
	seq struct{ items []any }
	// dict keeps its keys in order.
	dict struct {
		keys, values []any
		at           map[any]int // of keys
	}
	// global is a function or class by its name; it is known.
	global struct{ name string }
	// opaque stands for refused and irrelevant values.
	opaque struct{}
	// storage is the memory of tensors.
	storage struct {
		dtype *dtype // nil for bytes of any type
		key   string
		n     int64 // elements
		view  *view
	}
	// view is a part of a storage that stands for one, as files before PyTorch 1.6 have it.
	view struct{ first, n int64 }
	// strided is a tensor.
	strided struct {
		dtype         *dtype
		storage       *storage
		offset        int64
		shape, stride []int64
	}
)

func (d *dict) set(key, value any) {
	if _, slice := key.([]byte); slice {
		key = string(key.([]byte))
	}
	if i, ok := d.at[key]; ok {
		d.values[i] = value
		return
	}
	if d.at == nil {
		d.at = map[any]int{}
	}
	d.at[key] = len(d.keys)
	d.keys, d.values = append(d.keys, key), append(d.values, value)
}

// machine runs a pickle. The first mistake stops it. Refused objects do not, so that
// all of them can be reported.
type machine struct {
	b       []byte
	i       int // of the next byte
	op      int // place of the opcode that is running
	stack   []any
	marks   []int // lengths of the stack
	memo    map[uint32]any
	next    uint32 // number of the next value that is memoised without one
	made    int
	done    bool
	refused []string // names, in order
	// storages are those that values outside of the pickle stand for.
	storages map[string]*storage
	unlike   string // a key of storages of several types or sizes
	seen     map[string]bool
	err      *diag.Error
}

// run runs a pickle to its end and returns its value.
func (m *machine) run(b []byte) any {
	m.b, m.memo, m.seen = b, map[uint32]any{}, map[string]bool{}
	if len(b) > maxPickle {
		m.fail("pickle has " + strconv.Itoa(len(b)) + " bytes, expected at most " + strconv.Itoa(maxPickle))
	}
	for steps := 0; m.err == nil && !m.done; steps++ {
		m.op = m.i
		code := m.take(1)
		if m.err != nil {
			break
		}
		f := opcodes[code[0]]
		switch {
		case f == nil:
			m.fail("opcode is " + diag.Quote(string(code)) + ", expected one that torch.save writes")
		case steps == maxSteps:
			m.fail("pickle has more than " + strconv.Itoa(maxSteps) + " opcodes, expected fewer")
		case len(m.stack) > maxStack || len(m.marks) > maxStack:
			m.fail("stack has more than " + strconv.Itoa(maxStack) + " values, expected fewer")
		default:
			f(m)
		}
	}
	if m.err != nil {
		return nil
	}
	return m.pop()
}

// fail records a mistake at the opcode that is running.
func (m *machine) fail(msg string) {
	if m.err == nil {
		m.err = diag.New(CodeSyntax, "torch: byte "+strconv.Itoa(m.op)+" of the pickle: "+msg)
	}
}

// refuse records the name of something that is not read.
func (m *machine) refuse(name string) any {
	if !m.seen[name] && len(m.refused) < 100 {
		m.seen[name] = true
		m.refused = append(m.refused, name)
	}
	return opaque{}
}

// take returns the next n bytes.
func (m *machine) take(n uint64) []byte {
	if m.err != nil || n > uint64(len(m.b)-m.i) {
		m.fail("pickle ends after " + strconv.Itoa(len(m.b)) + " bytes, expected more")
		return nil
	}
	m.i += int(n)
	return m.b[m.i-int(n) : m.i : m.i]
}

// number reads n bytes, the least significant first.
func (m *machine) number(n int) (v uint64) {
	for i, c := range m.take(uint64(n)) {
		v |= uint64(c) << (8 * i)
	}
	return v
}

// line reads a text up to the end of its line.
func (m *machine) line() string {
	if k := bytes.IndexByte(m.b[m.i:], '\n'); k >= 0 && m.err == nil {
		return string(m.take(uint64(k + 1))[:k])
	}
	m.fail("a line does not end")
	return ""
}

func (m *machine) push(v any) { m.stack = append(m.stack, v) }

// bottom is the length of the stack below which nothing may be taken.
func (m *machine) bottom() int {
	if n := len(m.marks); n > 0 {
		return m.marks[n-1]
	}
	return 0
}

func (m *machine) pop() any {
	if len(m.stack) <= m.bottom() {
		m.fail("stack is empty, expected a value")
		return nil
	}
	v := m.stack[len(m.stack)-1]
	m.stack = m.stack[:len(m.stack)-1]
	return v
}

// top returns the value on top, which stays.
func (m *machine) top() any {
	v := m.pop()
	if m.err == nil {
		m.push(v)
	}
	return v
}

// toMark returns the values above the last mark, which are taken with it.
func (m *machine) toMark() []any {
	if len(m.marks) == 0 {
		m.fail("there is no mark, expected one")
		return nil
	}
	at := m.bottom()
	m.marks = m.marks[:len(m.marks)-1]
	items := append([]any(nil), m.stack[at:]...)
	m.stack = m.stack[:at]
	return items
}

// count bounds how much is made.
func (m *machine) count() {
	if m.made++; m.made > maxMade {
		m.fail("pickle makes more than " + strconv.Itoa(maxMade) + " objects, expected fewer")
	}
}

func (m *machine) pushSeq(items []any) {
	m.count()
	m.push(&seq{items})
}

// tuple makes one of the n values on top.
func (m *machine) tuple(n int) {
	items := make([]any, n)
	for i := n - 1; i >= 0; i-- {
		items[i] = m.pop()
	}
	m.pushSeq(items)
}

func (m *machine) pushDict(items []any) {
	m.count()
	d := &dict{}
	m.fill(d, items)
	m.push(d)
}

// fill enters keys and values, which take turns.
func (m *machine) fill(d *dict, items []any) {
	if len(items)%2 != 0 {
		m.fail("a key has no value")
		return
	}
	for i := 0; i < len(items); i += 2 {
		d.set(items[i], items[i+1])
	}
}

// extend adds items to the list on top.
func (m *machine) extend(items []any) {
	switch l := m.top().(type) {
	case *seq:
		l.items = append(l.items, items...)
	case opaque:
	default:
		m.fail("elements are added to what is no list")
	}
}

// enter adds keys and values to the dictionary on top.
func (m *machine) enter(items []any) {
	switch d := m.top().(type) {
	case *dict:
		m.fill(d, items)
	case opaque:
	default:
		m.fail("keys are set of what is no dictionary")
	}
}

// put remembers the value on top.
func (m *machine) put(n uint32) {
	if len(m.memo) >= maxMemo {
		m.fail("pickle remembers more than " + strconv.Itoa(maxMemo) + " values, expected fewer")
		return
	}
	m.memo[n] = m.top()
	m.next = max(m.next, n+1)
}

func (m *machine) get(n uint32) {
	v, ok := m.memo[n]
	if !ok {
		m.fail("value " + strconv.FormatUint(uint64(n), 10) + " was not remembered, expected one that was")
	}
	m.push(v)
}

// long pushes an integer in two's complement, the least significant byte first. One that
// no size or place of a tensor can be is of no interest.
func (m *machine) long(b []byte) {
	if len(b) > 8 {
		m.push(opaque{})
		return
	}
	v := int64(0)
	for i, c := range b {
		v |= int64(c) << (8 * i)
	}
	if n := len(b); n > 0 && n < 8 && b[n-1]&0x80 != 0 {
		v -= 1 << (8 * n)
	}
	m.push(v)
}

func (m *machine) float(b []byte) {
	v := uint64(0)
	for _, c := range b {
		v = v<<8 | uint64(c)
	}
	m.push(math.Float64frombits(v))
}
