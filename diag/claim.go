package diag

import (
	"slices"
	"strconv"
	"strings"
)

// Rel is how two sizes A and B stand to each other.
type Rel uint8

// The relations.
const (
	EQ  Rel = iota // A == B
	GE             // A >= B
	MOD            // A % B == 0: A is a multiple of B
	NE             // A != B
)

// Holds reports whether the relation is true of two numbers. Nothing is a
// multiple of 0 or of a negative number.
func (r Rel) Holds(a, b int) bool {
	switch r {
	case GE:
		return a >= b
	case MOD:
		return b > 0 && a%b == 0
	case NE:
		return a != b
	}
	return a == b
}

// Claim is a relation that a program needs of the sizes of its inputs and that
// does not hold for the arguments of a call, in words. Every engine refuses with
// its message.
type Claim struct {
	Rel   Rel
	Op    string // the operator that needs it, "" for the program itself
	Input string // the name of the input that the sides speak of first
	Type  string // the type that it has
	A, B  Side
}

// Side is a side of a claim.
type Side struct {
	Text  string // an expression over symbols
	Value int
	Sizes []SizeOf // what its symbols are
}

// SizeOf tells which size a symbol stands for.
type SizeOf struct {
	Symbol, Input string
	Axis, Value   int
}

// String returns the message: what is found, and what is needed.
func (c Claim) String() string {
	if c.A.number() && !c.B.number() { // N <= 10 has the number on the left
		return c.message(c.B, map[Rel]string{EQ: "equal to ", GE: "at most ", MOD: "that divides ", NE: "other than "}[c.Rel], c.A)
	}
	return c.message(c.A, map[Rel]string{EQ: "equal to ", GE: "at least ", MOD: "divisible by ", NE: "other than "}[c.Rel], c.B)
}

func (c Claim) message(x Side, words string, y Side) string {
	who := c.Op
	if who == "" {
		who = "the graph"
	}
	var where []string
	text := who + " needs " + c.side(x, &where) + " " + words
	if c.Rel == EQ && x.plain() && y.plain() { // one size, one name
		text += c.place(y.Sizes[0]) + " (here " + strconv.Itoa(y.Value) + ")"
	} else {
		text += c.side(y, &where)
	}
	if where != nil {
		text += ", where " + strings.Join(where, ", ")
	}
	if c.Input == "" {
		return text
	}
	return "input " + literal(c.Input) + " is " + c.Type + ": " + text
}

func (s Side) number() bool { return len(s.Sizes) == 0 }

// plain reports whether the side is one symbol.
func (s Side) plain() bool { return len(s.Sizes) == 1 && s.Sizes[0].Symbol == s.Text }

// side writes one side with what it is; the symbols of an expression follow
// after the sentence.
func (c Claim) side(s Side, where *[]string) string {
	if s.number() {
		return s.Text
	}
	if one := s.Sizes[0]; s.plain() {
		return s.Text + " (" + c.place(one) + ", here " + strconv.Itoa(one.Value) + ")"
	}
	for _, z := range s.Sizes {
		if text := z.Symbol + " is " + c.place(z) + ", here " + strconv.Itoa(z.Value); !slices.Contains(*where, text) {
			*where = append(*where, text)
		}
	}
	return s.Text + " (here " + strconv.Itoa(s.Value) + ")"
}

func (c Claim) place(s SizeOf) string {
	text := "axis " + strconv.Itoa(s.Axis)
	if s.Input != c.Input {
		text += " of " + literal(s.Input)
	}
	return text
}

// Misfit is the message of an input of another element type, rank or size than a program
// takes.
func Misfit(input, got, want string) string {
	return "input " + literal(input) + " is " + got + ", expected " + want
}

// Missing is the message of an input that is not given.
func Missing(input string) string { return "input " + literal(input) + " is missing" }

// WrongSize is the message of a size that is not what an expression makes it: the other
// sizes say what that is here.
func WrongSize(input, got string, axis int, want string, here int) string {
	return "input " + literal(input) + " is " + got + ", dimension " + strconv.Itoa(axis) + " is expected to be " + want + ", which is " + strconv.Itoa(here) + " here"
}
