package tracer

import (
	"bytes"
	"runtime"
	"strconv"
)

// call is a call of a method Forward that is running: the function's name as stacks print
// it, and the address of its receiver, 0 where it is not known.
type call struct {
	function string
	receiver uintptr
}

// maxStack bounds the text of a stack that is read.
const maxStack = 32 << 10

var (
	forwardSuffix = []byte(".Forward")
	scopeFunction = []byte("github.com/gofx-dev/gofx/tensor.RunScope")
	enterFunction = []byte(engine + "Enter")
	startFunction = []byte(engine + "run")
	otherRoutine  = []byte("created by ")
)

// bottom is where the calls of running ends.
type bottom uint8

const (
	atEnd   bottom = iota // the stack of another goroutine, or one that is too deep
	atScope               // tensor.RunScope
	atStart               // where the trace calls the model
)

// stackReader reads the stack of its goroutine, with memory for the text and what is found.
type stackReader struct {
	text  []byte
	calls []call
	names map[string]string // of functions
}

// name returns a name as a string of its own.
func (r *stackReader) name(b []byte) string {
	s, known := r.names[string(b)]
	if !known {
		if r.names == nil {
			r.names = map[string]string{}
		}
		s = string(b)
		r.names[s] = s
	}
	return s
}

// running returns the calls of Forward on the stack, innermost first, up to the module that
// nn.Run runs or the start of the trace. It is asked by calls in Forward, and by
// tensor.RunScope itself (Enter), which does not count.
//
// The Go runtime prints the receivers: it is the only one that knows where they are. It
// marks a value by "?" unless the running call has stored it, so that a value without the
// mark is no left-over of an earlier call at the same place.
func (r *stackReader) running() ([]call, bottom) {
	if r.text == nil {
		r.text = make([]byte, maxStack)
	}
	r.calls = r.calls[:0]
	text, asking := r.text[:runtime.Stack(r.text, false)], false
	for {
		line, rest, whole := bytes.Cut(text, []byte{'\n'})
		if !whole || bytes.HasPrefix(line, otherRoutine) {
			return r.calls, atEnd
		}
		text = rest
		open := bytes.LastIndexByte(line, '(')
		if open < 0 || line[0] == '\t' {
			continue
		}
		name := line[:open]
		asking = asking || bytes.Equal(name, enterFunction)
		switch {
		case bytes.HasSuffix(name, forwardSuffix):
			r.calls = append(r.calls, call{r.name(name), receiver(name, line[open+1:])})
		case bytes.Equal(name, scopeFunction):
			if !asking {
				return r.calls, atScope
			}
			asking = false
		case bytes.Equal(name, startFunction):
			return r.calls, atStart
		}
	}
}

// receiver reads the first of printed arguments. Calls of generic types are printed with
// other values in front.
func receiver(function, args []byte) uintptr {
	end := bytes.IndexAny(args, ",)")
	if end < 0 || bytes.IndexByte(function, '[') >= 0 {
		return 0
	}
	digits, hex := bytes.CutPrefix(args[:end], []byte("0x"))
	v, err := strconv.ParseUint(string(digits), 16, strconv.IntSize)
	if !hex || err != nil {
		return 0
	}
	return uintptr(v)
}
