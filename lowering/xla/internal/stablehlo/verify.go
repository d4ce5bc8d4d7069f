package stablehlo

import (
	"errors"
	"fmt"

	"github.com/gofx-dev/gofx/array"
)

// Verify holds a program to the constraints of the specification: every operation is
// known, has the operands, attributes and regions that it needs and results of the
// right types, values are used where they are defined, and regions end in returns.
// The error names every operation that does not fit, with the constraint.
func Verify(p *Module) error {
	v := &verifier{seen: map[*Value]bool{}, scalars: map[*Value]int{}}
	v.region(p.Main, "main")
	v.shardings(p)
	return errors.Join(v.errs...)
}

type verifier struct {
	seen    map[*Value]bool
	scalars map[*Value]int // constants that may be sizes
	errs    []error
	at      int
}

func (v *verifier) fail(err error) {
	v.errs = append(v.errs, fmt.Errorf("operation %d: %w", v.at, err))
}

// region checks a region; what it defines is gone after it.
func (v *verifier) region(r *Region, of string) {
	var mine []*Value
	define := func(list []*Value) {
		for _, x := range list {
			if v.seen[x] {
				v.fail(errors.New("a value is defined twice"))
			}
			v.seen[x] = true
			mine = append(mine, x)
		}
	}
	define(r.Args)
	if n := len(r.Ops); n == 0 || r.Ops[n-1].Name != "return" {
		v.fail(fmt.Errorf("the region of %s does not end in a return", of))
	}
	for i, o := range r.Ops {
		v.at++
		at := v.at
		for k, x := range o.Operands {
			if !v.seen[x] {
				v.fail(fmt.Errorf("stablehlo.%s: operand %d is not defined here", o.Name, k))
			}
		}
		for _, inner := range o.Regions {
			v.region(inner, o.Name)
		}
		last := v.at
		v.at = at
		if o.Name == "return" {
			if i != len(r.Ops)-1 || len(o.Results) > 0 {
				v.fail(errors.New("a return is not the end of its region"))
			}
		} else if err := check(o); err != nil {
			v.fail(err)
		} else {
			v.size(o)
		}
		define(o.Results)
		v.at = last
	}
	for _, x := range mine {
		delete(v.seen, x)
	}
}

// size holds set_dimension_size to what its size says: the bound as a constant makes the
// dimension static, and nothing else does.
func (v *verifier) size(o *Op) {
	if n, ok := scalar(o); ok {
		v.scalars[o.Results[0]] = n
	}
	if o.Name != "set_dimension_size" {
		return
	}
	d, t := o.Int("dimension"), o.Results[0].Type
	n, known := v.scalars[o.Operands[1]]
	if full := known && n == t.Dims[d]; full == t.Bound(d) {
		v.fail(fmt.Errorf("stablehlo.set_dimension_size: dimension %d of %s is a bound, or is none, against its size", d, t))
	}
}

// scalar returns the number that an operation gives as a constant of i32.
func scalar(o *Op) (n int, ok bool) {
	d, ok := o.Get("value").(Dense)
	if o.Name != "constant" || !ok || !d.Type.Equal(Of(array.I32)) {
		return 0, false
	}
	return int(int32(d.At(0))), true
}
