package tensor

import (
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/shape"
)

// MustEqual states that the program is right for sizes equal to o, an int or a
// Size, only. Others are refused: at once, or by what a trace records.
func (s Size) MustEqual(o any) { s.must(shape.EQ, o) }

// MustDiffer states that the program is right for sizes other than o only; see
// MustEqual.
func (s Size) MustDiffer(o any) { s.must(shape.NE, o) }

// MustBeAtLeast states that the program is right for sizes of o or more only; see
// MustEqual.
func (s Size) MustBeAtLeast(o any) { s.must(shape.GE, o) }

// MustBeAtMost states that the program is right for sizes of o or less only; see
// MustEqual.
func (s Size) MustBeAtMost(o any) {
	d, e := sizeOf(o)
	Size{d: d, e: e}.must(shape.GE, s)
}

// MustBeMultiple states that the program is right for multiples of o only; see
// MustEqual.
func (s Size) MustBeMultiple(o any) { s.must(shape.MOD, o) }

func (s Size) must(rel shape.Rel, o any) {
	d, e := sizeOf(o)
	if s = s.settled(); s.e != nil {
		e = s.e
	}
	r := shape.Relation{Rel: rel, A: s.d, B: d}.Normal()
	if r.Truth() == shape.True {
		return
	}
	switch k := e.(type) {
	case Symbolic:
		k.Guard(nil, r)
		return
	case Follower:
		if a, b := k.LookAt(r.A, ""), k.LookAt(r.B, ""); r.Rel.Holds(a, b) {
			k.Guard(nil, r)
			return
		}
		s, d = sizeIn(shape.Const(k.LookAt(s.d, "")), nil), shape.Const(k.LookAt(d, ""))
	}
	claim := diag.Claim{Rel: rel, Op: "the program", A: diag.Side{Text: s.String()}, B: diag.Side{Text: d.String()}}
	panic(diag.New(kernel.CodeArgument, claim.String()).At(diag.Here()))
}
