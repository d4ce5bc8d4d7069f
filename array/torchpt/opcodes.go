package torchpt

import (
	"strconv"
	"strings"
)

// opcodes are those of pickle (protocols 0 to 5) that make data, by their bytes. Those
// that are missing make instances, use registries of the reader's, or memory that is not
// in the file.
var opcodes [256]func(m *machine)

func init() {
	for code, f := range map[byte]func(m *machine){
		0x80: func(m *machine) { m.take(1) },     // PROTO
		0x95: func(m *machine) { m.take(8) },     // FRAME
		'.':  func(m *machine) { m.done = true }, // STOP
		'(':  func(m *machine) { m.marks = append(m.marks, len(m.stack)) },
		'0':  func(m *machine) { m.discard() },
		'1':  func(m *machine) { m.toMark() },
		'2':  func(m *machine) { m.push(m.top()) },
		'N':  func(m *machine) { m.push(nil) },
		0x88: func(m *machine) { m.push(true) },
		0x89: func(m *machine) { m.push(false) },

		'K':  func(m *machine) { m.push(int64(m.number(1))) },
		'M':  func(m *machine) { m.push(int64(m.number(2))) },
		'J':  func(m *machine) { m.push(int64(int32(m.number(4)))) },
		0x8a: func(m *machine) { m.long(m.take(m.number(1))) },
		0x8b: func(m *machine) { m.long(m.take(m.number(4))) },
		'I':  func(m *machine) { m.decimal(m.line()) },
		'L':  func(m *machine) { m.decimal(strings.TrimSuffix(m.line(), "L")) },
		'G':  func(m *machine) { m.float(m.take(8)) },
		'F':  func(m *machine) { m.line(); m.push(opaque{}) },

		'X':  func(m *machine) { m.push(string(m.take(m.number(4)))) },
		0x8c: func(m *machine) { m.push(string(m.take(m.number(1)))) },
		0x8d: func(m *machine) { m.push(string(m.take(m.number(8)))) },
		'T':  func(m *machine) { m.push(string(m.take(m.number(4)))) },
		'U':  func(m *machine) { m.push(string(m.take(m.number(1)))) },
		'V':  func(m *machine) { m.push(m.line()) },
		'B':  func(m *machine) { m.push(m.take(m.number(4))) },
		'C':  func(m *machine) { m.push(m.take(m.number(1))) },
		0x8e: func(m *machine) { m.push(m.take(m.number(8))) },
		0x96: func(m *machine) { m.push(m.take(m.number(8))) },

		']':  func(m *machine) { m.pushSeq(nil) },
		'l':  func(m *machine) { m.pushSeq(m.toMark()) },
		'a':  func(m *machine) { v := m.pop(); m.extend([]any{v}) },
		'e':  func(m *machine) { m.extend(m.toMark()) },
		')':  func(m *machine) { m.pushSeq(nil) },
		't':  func(m *machine) { m.pushSeq(m.toMark()) },
		0x85: func(m *machine) { m.tuple(1) },
		0x86: func(m *machine) { m.tuple(2) },
		0x87: func(m *machine) { m.tuple(3) },
		0x8f: func(m *machine) { m.pushSeq(nil) },
		0x90: func(m *machine) { m.extend(m.toMark()) },
		0x91: func(m *machine) { m.pushSeq(m.toMark()) },
		'}':  func(m *machine) { m.pushDict(nil) },
		'd':  func(m *machine) { m.pushDict(m.toMark()) },
		's':  func(m *machine) { v := m.pop(); m.enter([]any{m.pop(), v}) },
		'u':  func(m *machine) { m.enter(m.toMark()) },

		'p':  func(m *machine) { m.put(m.decimalOf(m.line())) },
		'q':  func(m *machine) { m.put(uint32(m.number(1))) },
		'r':  func(m *machine) { m.put(uint32(m.number(4))) },
		0x94: func(m *machine) { m.put(m.next) },
		'g':  func(m *machine) { m.get(m.decimalOf(m.line())) },
		'h':  func(m *machine) { m.get(uint32(m.number(1))) },
		'j':  func(m *machine) { m.get(uint32(m.number(4))) },

		'c':  func(m *machine) { module := m.line(); m.push(m.named(module, m.line())) },
		0x93: stackGlobal,
		'R':  func(m *machine) { args := m.pop(); m.push(m.call(m.pop(), args)) },
		0x81: func(m *machine) { args := m.pop(); m.push(m.call(m.pop(), args)) }, // NEWOBJ
		'b':  build,
		'Q':  func(m *machine) { m.push(m.persistent(m.pop())) },
	} {
		opcodes[code] = f
	}
}

// discard takes the value on top away, or a mark that lies there.
func (m *machine) discard() {
	if n := len(m.marks); n > 0 && m.marks[n-1] == len(m.stack) {
		m.marks = m.marks[:n-1]
		return
	}
	m.pop()
}

// decimal pushes an integer that is written in digits; 00 and 01 are truth values.
func (m *machine) decimal(s string) {
	switch v, err := strconv.ParseInt(s, 10, 64); {
	case s == "00" || s == "01":
		m.push(s == "01")
	case err != nil:
		m.push(opaque{})
	default:
		m.push(v)
	}
}

func (m *machine) decimalOf(s string) uint32 {
	v, err := strconv.ParseUint(s, 10, 32)
	if err != nil {
		m.fail("number of a value is malformed")
	}
	return uint32(v)
}

func stackGlobal(m *machine) {
	name, ok := m.pop().(string)
	module, ok2 := m.pop().(string)
	if !ok || !ok2 {
		m.fail("name of an object is no text")
		return
	}
	m.push(m.named(module, name))
}

// build gives an object attributes. Those of ordered dictionaries (versions of modules)
// and of parameters are of no interest; others are of objects that were refused.
func build(m *machine) {
	m.pop()
	switch m.top().(type) {
	case *dict, *strided, opaque:
	default:
		m.fail("attributes are set of what has none")
	}
}
