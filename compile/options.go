package compile

import (
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
)

// Option is a choice for a compiled function.
type Option func(*options)

type options struct {
	target   lowering.Target
	lower    lowering.Options
	capacity int
	lift     int
	strict   bool
	audit    int
	miss     func(Miss)
}

// Miss is a call for which no record fits.
type Miss struct {
	Func string
	// Path is the word that differs from the record used last, and Line the first line of the code that reads it. Both
	// are empty where there was no record.
	Path, Line string
}

func optionsOf(list []Option) options {
	o := options{target: cpu.Target{}, lower: lowering.Options{Exact: true}, capacity: 64, lift: 3}
	for _, f := range list {
		f(&o)
	}
	return o
}

// On has a target compile the graphs, with these options. Without it, this CPU does, and computes the bits
// of eager code.
func On(t lowering.Target, o lowering.Options) Option {
	return func(c *options) { c.target, c.lower = t, o }
}

// Capacity is the most records of one receiver; those used longest ago go first. Without it, they are 64. A
// receiver for which as many have gone has no more made: its calls run in a session.
func Capacity(n int) Option { return func(c *options) { c.capacity = max(n, 1) } }

// LiftAfter is how often a weight is found to be written before graphs read it at each call instead of
// taking it for a constant, how often a number that only operators are given, or a size, differs before it becomes an input, and how
// many calls in a row may be no record before none is tried. Without it, 3.
func LiftAfter(n int) Option { return func(c *options) { c.lift = max(n, 1) } }

// Strict makes it a panic of code FX1071 that no record can be made of a call.
func Strict() Option { return func(c *options) { c.strict = true } }

// Audit has every nth call for which a record fits run the function as well, and panics with FX1072 where that does
// anything else than the record says.
func Audit(n int) Option { return func(c *options) { c.audit = n } }

// OnMiss has f told of calls for which no record fits.
func OnMiss(f func(Miss)) Option { return func(c *options) { c.miss = f } }
