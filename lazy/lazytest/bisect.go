package lazytest

import (
	"fmt"

	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/lazy"
)

// Culprit is the call whose delay changes a result.
type Culprit struct {
	Call  int    // from 1, in the order of the program; 0 where it is wrong with each call computed by itself
	Calls int    // of the program
	Op    string // its operator
	At    string // file:line
	Tries int    // how often the program was tried
}

// String names the call, and how many tries found it.
func (c *Culprit) String() string {
	if c.Call == 0 {
		return "the program is wrong with each call computed by itself: compare it with eager code that has the same inputs and state"
	}
	return fmt.Sprintf("%s: %s, call %d of %d, found in %d tries", c.At, c.Op, c.Call, c.Calls, c.Tries)
}

// runsOfTry are enough for graphs to be compiled with a Warm of 1.
const runsOfTry = 3

// Bisect finds the call that a session computes wrongly because it computes it together with
// others: right runs a program in a session, and reports whether the result is that of eager
// code. With all calls up to the culprit computed one by one the program is right. The search
// halves the calls at each try, and returns nil where the program is right.
func Bisect(o lazy.Options, right func(s *lazy.Session) bool) (c *Culprit, err error) {
	defer diag.Catch(&err)
	c = &Culprit{}
	try := func(alone int) bool {
		c.Tries++
		ok, calls, last := attempt(o, alone, right)
		if ok && alone > 0 {
			c.Op, c.At = last.Text, last.At
		}
		if alone == 0 {
			c.Calls = calls
		}
		return ok
	}
	if try(0) {
		return nil, nil
	}
	low, high := 0, c.Calls // wrong, right
	for high-low > 1 {
		if k := (low + high) / 2; try(k) {
			high = k
		} else {
			low = k
		}
	}
	if c.Call = high; high == c.Calls && !try(high) {
		c.Call, c.Op, c.At = 0, "", ""
	}
	return c, nil
}

// attempt runs the program until its graphs are compiled. It is right if all runs are.
func attempt(o lazy.Options, alone int, right func(s *lazy.Session) bool) (ok bool, calls int, last lazy.Line) {
	o.Warm, o.OneByOne = 1, alone
	s := lazy.New(o)
	defer s.Close()
	ok = true
	for range runsOfTry {
		before := s.Stats().Calls
		ok = right(s) && ok
		if err := s.Barrier(); err != nil {
			panic(err)
		}
		calls = s.Stats().Calls - before
		s.Wait()
	}
	if l := s.Explain().Single; l != nil {
		last = *l
	}
	return ok, calls, last
}
