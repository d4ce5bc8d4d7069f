package onnx

import (
	"maps"
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/shape"
)

// sequenceRules are the operators on sequences and optionals. Nothing of them is left in
// the graph: a sequence is the list of its members, and an optional is its value, or
// nothing; so the length of the one and the state of the other are known at import.
var sequenceRules = map[string][]rule{
	"SequenceConstruct":  {{since: 11, run: sequenceConstruct}},
	"SequenceEmpty":      {{since: 11, run: sequenceEmpty}},
	"SequenceAt":         {{since: 11, run: sequenceAt}},
	"SequenceInsert":     {{since: 11, run: sequenceInsert}},
	"SequenceErase":      {{since: 11, run: sequenceErase}},
	"SequenceLength":     {{since: 11, run: sequenceLength}},
	"SplitToSequence":    {{since: 11, run: splitToSequence}},
	"ConcatFromSequence": {{since: 11, run: concatFromSequence}},
	"Optional":           {{since: 15, run: optional}},
	"OptionalHasElement": {{since: 15, run: optionalHasElement}},
	"OptionalGetElement": {{since: 15, run: optionalGetElement}},
}

// sequence makes a value of members.
func sequence(members []*value) []*value {
	if len(members) > mostMembers {
		panic(diag.New(CodeModel, "the sequence has more than "+strconv.Itoa(mostMembers)+" members"))
	}
	return []*value{{seq: members, isSeq: true}}
}

// membersOf returns those of operand i, which must be a sequence.
func membersOf(c *call, i int) []*value {
	v := c.value(i)
	if !v.isSeq {
		panic(diag.New(CodeType, "input "+strconv.Itoa(i)+" is "+v.what()+", expected a sequence"))
	}
	return v.seq
}

// member requires a tensor.
func member(v *value) *value {
	if v.isSeq || v.none {
		panic(diag.New(CodeType, "a member of the sequence is "+v.what()+", expected a tensor"))
	}
	return v
}

// position returns operand i as a place in a sequence of n members, from the end where it
// is negative; def where the operand is absent.
func position(c *call, i, n, def int) int {
	if !c.has(i) {
		return def
	}
	list := c.ints(i)
	if len(list) != 1 {
		panic(diag.New(CodeModel, "the position has "+strconv.Itoa(len(list))+" elements, expected one"))
	}
	p := list[0]
	if p < 0 {
		p += n
	}
	if p < 0 || p >= n {
		panic(diag.New(CodeModel, "position "+strconv.Itoa(list[0])+" is out of range for "+strconv.Itoa(n)+" places in the sequence"))
	}
	return p
}

func sequenceConstruct(c *call) []*value {
	members := make([]*value, len(c.in))
	for i := range c.in {
		members[i] = member(c.value(i))
	}
	return sequence(members)
}

func sequenceEmpty(c *call) []*value {
	c.dtype("dtype", array.F32)
	return sequence(nil)
}

func sequenceAt(c *call) []*value {
	members := membersOf(c, 0)
	v := *members[position(c, 1, len(members), 0)]
	return []*value{&v}
}

func sequenceInsert(c *call) []*value {
	members := membersOf(c, 0)
	p := position(c, 2, len(members)+1, len(members))
	if c.has(2) && c.ints(2)[0] < 0 { // counts from the end of the members there are
		p = position(c, 2, len(members), 0)
	}
	out := append(make([]*value, 0, len(members)+1), members[:p]...)
	return sequence(append(append(out, member(c.value(1))), members[p:]...))
}

func sequenceErase(c *call) []*value {
	members := membersOf(c, 0)
	p := position(c, 1, len(members), len(members)-1)
	if p < 0 {
		panic(diag.New(CodeModel, "the sequence is empty, expected a member to erase"))
	}
	return sequence(append(append(make([]*value, 0, len(members)), members[:p]...), members[p+1:]...))
}

func sequenceLength(c *call) []*value {
	return []*value{{arr: array.Scalar(int64(len(membersOf(c, 0))))}}
}

// derive computes tensors of tensors: at once where those are constants.
func derive(c *call, in []*value, build func(c *call) []op.Value) []*value {
	d := *c
	d.in, d.used = in, maps.Clone(c.used)
	outs := d.byConstants(&rule{build: build})
	if outs == nil {
		d.write()
		outs = d.values(build(&d))
	}
	return outs
}

func splitToSequence(c *call) []*value {
	rank := c.rank(0)
	axis := c.axis(c.int("axis", 0), rank)
	keep := c.flag("keepdims", true) || c.has(1)
	length, known := c.typ(0).Dim(axis).Int()
	if !known {
		panic(diag.New(CodeValue, "the size of axis "+strconv.Itoa(axis)+" is not known, and the number of members follows from it"))
	}
	sizes := pieces(c, length)
	members := derive(c, c.in[:1], func(c *call) []op.Value {
		if len(sizes) == 0 {
			return nil
		}
		pieces := c.items(c.do(std.Split, std.SplitAttrs{Sizes: shape.ConstDims(sizes...), Dim: axis}, c.x(0)), len(sizes))
		for i := range pieces {
			if !keep {
				pieces[i] = c.do(std.Squeeze, std.SqueezeAttrs{Dim: op.IntList(axis)}, pieces[i])
			}
		}
		return pieces
	})
	return sequence(members)
}

// pieces are the sizes that operand 1 of SplitToSequence cuts a length into.
func pieces(c *call, length int) (sizes []int) {
	step := 1
	if c.has(1) {
		list := c.ints(1)
		if c.rank(1) > 0 {
			return list
		}
		if step = list[0]; step < 1 {
			panic(diag.New(CodeModel, "the size of the pieces is "+strconv.Itoa(step)+", expected 1 or more"))
		}
	}
	if (length+step-1)/step > mostMembers {
		panic(diag.New(CodeModel, "the sequence has more than "+strconv.Itoa(mostMembers)+" members"))
	}
	for ; length > 0; length -= step {
		sizes = append(sizes, min(step, length))
	}
	return sizes
}

func concatFromSequence(c *call) []*value {
	members := membersOf(c, 0)
	if len(members) == 0 {
		panic(diag.New(CodeModel, "the sequence is empty, expected a member or more"))
	}
	axis, fresh := c.int("axis", 0), c.flag("new_axis", false)
	if !c.given("axis") {
		panic(diag.New(CodeModel, "attribute axis is missing"))
	}
	return derive(c, members, func(c *call) []op.Value {
		if fresh {
			return c.one(std.Stack, std.DimAttrs{Dim: axis}, c.xs()...)
		}
		return c.one(std.Cat, std.DimAttrs{Dim: axis}, c.xs()...)
	})
}

func optional(c *call) []*value {
	c.ignore("type")
	if !c.has(0) {
		return []*value{{none: true}}
	}
	v := *c.in[0]
	return []*value{&v}
}

func optionalHasElement(c *call) []*value {
	return []*value{{arr: array.Scalar(c.has(0) && !c.in[0].none)}}
}

func optionalGetElement(c *call) []*value {
	v := *c.value(0)
	if v.none {
		panic(diag.New(CodeModel, "the optional holds nothing, expected a value"))
	}
	return []*value{&v}
}
