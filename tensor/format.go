package tensor

import (
	"fmt"
	"strings"

	"github.com/gofx-dev/gofx/array"
)

// String prints type and values of an eager tensor, and only the type of others.
//
//gofx:observes nothing
func (x *Tensor) String() string {
	if x == nil {
		return "nil"
	}
	now, in := x.c.state()
	e := now.eng
	if in != recorded {
		a := now.val.(*array.Array)
		if e, _ = writerOf(holdersOf(a.Storage())); e == nil { // no engine has recorded a write to the memory
			return array.Format(a, 1000)
		}
	}
	if a := e.Observe(x, "String"); a != nil {
		return array.Format(a, 1000)
	}
	return x.Type().String()
}

// Format prints String for every verb, and the type alone for %#v: what fmt would
// find by reflection are pointers of the engine, which differ from run to run.
//
//gofx:observes nothing
func (x *Tensor) Format(f fmt.State, verb rune) {
	text := x.String()
	if f.Flag('#') && x != nil {
		text = "*tensor.Tensor(" + x.Type().String() + ")"
	}
	if verb != 'q' {
		verb = 's'
	}
	fmt.Fprintf(f, strings.ReplaceAll(fmt.FormatString(f, verb), "#", ""), text)
}
