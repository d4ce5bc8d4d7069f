package compile

import (
	"hash/maphash"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/gofx-dev/gofx/compile/state"
)

// A loop of the table unrolls in a call, and the record of the call is one of its number of rounds. The next call that fits a record in
// all but such numbers is compared with it, and where both are what one loop gives, for the rounds of each, a graph
// with a Scan stands for all numbers of rounds. See roll.go.

// marker tells the calls of loops apart: calls that one run of a loop makes have one mark.
type marker struct {
	loops []state.Loop
	pcs   [64]uintptr
}

// marks returns what a session asks for the place of a call, nil where the table has no loops.
func (c *core) marks() func() uint64 {
	if len(c.loops) == 0 {
		return nil
	}
	return (&marker{loops: c.loops}).mark
}

// seed makes marks of one place equal in all captures.
var seed = maphash.MakeSeed()

// mark is 0 outside of loops. In one, it says from where the function with the loop was called: what is deeper differs between the calls of one run. An
// address tells calls of one line apart; frames of inlined functions have that of the call within them.
func (m *marker) mark() uint64 {
	n := runtime.Callers(3, m.pcs[:])
	frames := runtime.CallersFrames(m.pcs[:n])
	var h maphash.Hash
	found, inlined := false, false
	for more := n > 0; more; {
		var f runtime.Frame
		f, more = frames.Next()
		if !found {
			i := slices.IndexFunc(m.loops, func(l state.Loop) bool { return l.Has(&f) })
			if i < 0 {
				continue
			}
			found, inlined = true, f.Func == nil
			h.SetSeed(seed)
			h.WriteString(strconv.Itoa(i))
			continue
		}
		if strings.HasPrefix(f.Function, exclusiveName) {
			break
		}
		h.WriteString(f.Function)
		h.WriteString(strconv.Itoa(f.Line))
		if !inlined {
			h.WriteString(strconv.Itoa(int(f.PC)))
		}
		inlined = f.Func == nil
	}
	if !found {
		return 0
	}
	return max(h.Sum64(), 1)
}

// count is a number of rounds that is an input: words that have one value, and sizes of one symbol.
type count struct {
	was, now int
	words    []int // of opened
	symbol   int   // from 1, 0 for none
}

// counts groups the words and symbols that differ between two calls by their values. Those of one group are compared
// with each other in later calls.
func (o *opened) counts(was []state.Scalar) (list []count) {
	at := func(a, b int) *count {
		i := slices.IndexFunc(list, func(c count) bool { return c.was == a && c.now == b })
		if i < 0 {
			i = len(list)
			list = append(list, count{was: a, now: b})
		}
		return &list[i]
	}
	for i, w := range o.words {
		g := at(int(was[i].I), int(w.Was.I))
		g.words = append(g.words, i)
	}
	for i := range o.sizes.now {
		at(o.sizes.was[i], o.sizes.now[i]).symbol = i + 1
	}
	return list
}

// forLines are the lines of the loops that roll.
func (c *core) forLines() string {
	list := make([]string, len(c.loops))
	for i, l := range c.loops {
		list[i] = l.File + ":" + strconv.Itoa(l.Line)
	}
	return strings.Join(list, ", ")
}
