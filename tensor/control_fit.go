package tensor

import (
	"strconv"

	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/shape"
)

// A trace compares the functions that it is given by the types of the nodes that they
// return. Here the same is asked of tensors, in the same words.

func unfit(what, msg string) *diag.Error {
	return (&diag.Error{Code: RegionMismatch, Op: what, Msg: msg}).At(diag.Here())
}

// given refuses absent operands.
func (f Flow) given(what string, in []*Tensor) {
	for i, x := range in {
		if x == nil {
			if what == "cond" {
				i++ // after the condition
			}
			panic(unfit(what, "operand "+strconv.Itoa(i)+" is nil").WithHint("pass a tensor, such as zeros"))
		}
	}
}

// present refuses absent results of a function, the first of which is result number first.
func present(out []*Tensor, first int) {
	for i, x := range out {
		if x == nil {
			panic(unfit("region", "result "+strconv.Itoa(first+i)+" of the function is nil").
				WithHint("return a tensor in its place, such as zeros, or leave the result out everywhere"))
		}
	}
}

// typesOf returns the types of what a function returned.
func typesOf(out []*Tensor) []shape.Type {
	present(out, 0)
	types := make([]shape.Type, len(out))
	for i, x := range out {
		types[i] = x.Type()
		if e, ok := x.c.engine().(Follower); ok && e.Following() {
			x.Shape() // whether types agree depends on sizes, which the engine sees
		}
	}
	return types
}

// agree compares what the branches of a cond return. Ranks and sizes may differ.
func agree(then, els []shape.Type) {
	if len(then) != len(els) {
		panic(unfit("cond", "the branches return "+strconv.Itoa(len(then))+" and "+strconv.Itoa(len(els))+" tensors").
			WithHint("return as many from both; a branch without a value for one returns its operand or zeros"))
	}
	for i, t := range then {
		if !shape.Joinable(t, els[i]) {
			panic(unfit("cond", "result "+strconv.Itoa(i)+" is "+t.String()+" in one branch and "+els[i].String()+" in the other").
				WithHint("cast one of them, so that both have one element type"))
		}
	}
}

// carried compares the types of the carried tensors with what a body returned.
func (f Flow) carried(what string, before []shape.Type, next []*Tensor) {
	if !f.Checked {
		keepTypes(what, before, typesOf(next))
	}
}

func keepTypes(what string, before, after []shape.Type) {
	if len(before) != len(after) {
		msg := "the body returns " + strconv.Itoa(len(after)) + " tensors, expected the " + strconv.Itoa(len(before)) + " carried ones"
		if what == "scan" {
			msg = "the body returns " + strconv.Itoa(len(after)) + " carried tensors, expected " + strconv.Itoa(len(before))
		}
		panic(unfit(what, msg).WithHint("return the next value of each carried tensor, in their order"))
	}
	for i, t := range before {
		if !t.Compatible(after[i]) {
			panic(unfit(what, "carried value "+strconv.Itoa(i)+" is "+t.String()+" before and "+after[i].String()+" after the body").
				WithHint("a loop is captured for values that keep their type: carry one of the final size, such as zeros that rounds fill"))
		}
	}
}
