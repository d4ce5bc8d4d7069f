package standard

import (
	"maps"
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/onnx/internal/modelfile"
	"github.com/gofx-dev/gofx/onnx/internal/rule"
	"github.com/gofx-dev/gofx/onnx/internal/spec"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/shape"
)

// sequenceRules are the operators on sequences and optionals. Nothing of them is left in
// the graph: a sequence is the list of its members, and an optional is its value, or
// nothing; so the length of the one and the state of the other are known at import.
var sequenceRules = map[string][]rule.Rule{
	"SequenceConstruct":  {{Since: 11, Run: sequenceConstruct}},
	"SequenceEmpty":      {{Since: 11, Run: sequenceEmpty}},
	"SequenceAt":         {{Since: 11, Run: sequenceAt}},
	"SequenceInsert":     {{Since: 11, Run: sequenceInsert}},
	"SequenceErase":      {{Since: 11, Run: sequenceErase}},
	"SequenceLength":     {{Since: 11, Run: sequenceLength}},
	"SplitToSequence":    {{Since: 11, Run: splitToSequence}},
	"ConcatFromSequence": {{Since: 11, Run: concatFromSequence}},
	"Optional":           {{Since: 15, Run: optional}},
	"OptionalHasElement": {{Since: 15, Run: optionalHasElement}},
	"OptionalGetElement": {{Since: 15, Run: optionalGetElement}},
}

// Sequence makes a value of members.
func Sequence(members []*rule.Datum) []*rule.Datum {
	if len(members) > modelfile.MostMembers {
		panic(diag.New(spec.CodeModel, "the sequence has more than "+strconv.Itoa(modelfile.MostMembers)+" members"))
	}
	return []*rule.Datum{{Seq: members, IsSeq: true}}
}

// MembersOf returns those of operand i, which must be a sequence.
func MembersOf(c *rule.Call, i int) []*rule.Datum {
	v := c.Value(i)
	if !v.IsSeq {
		panic(diag.New(spec.CodeType, "input "+strconv.Itoa(i)+" is "+v.What()+", expected a sequence"))
	}
	return v.Seq
}

// Member requires a tensor.
func Member(v *rule.Datum) *rule.Datum {
	if v.IsSeq || v.None {
		panic(diag.New(spec.CodeType, "a member of the sequence is "+v.What()+", expected a tensor"))
	}
	return v
}

// position returns operand i as a place in a sequence of n members, from the end where it
// is negative; def where the operand is absent.
func position(c *rule.Call, i, n, def int) int {
	if !c.Has(i) {
		return def
	}
	list := c.Ints(i)
	if len(list) != 1 {
		panic(diag.New(spec.CodeModel, "the position has "+strconv.Itoa(len(list))+" elements, expected one"))
	}
	p := list[0]
	if p < 0 {
		p += n
	}
	if p < 0 || p >= n {
		panic(diag.New(spec.CodeModel, "position "+strconv.Itoa(list[0])+" is out of range for "+strconv.Itoa(n)+" places in the sequence"))
	}
	return p
}

func sequenceConstruct(c *rule.Call) []*rule.Datum {
	members := make([]*rule.Datum, len(c.In))
	for i := range c.In {
		members[i] = Member(c.Value(i))
	}
	return Sequence(members)
}

func sequenceEmpty(c *rule.Call) []*rule.Datum {
	c.DType("dtype", array.F32)
	return Sequence(nil)
}

func sequenceAt(c *rule.Call) []*rule.Datum {
	members := MembersOf(c, 0)
	v := *members[position(c, 1, len(members), 0)]
	return []*rule.Datum{&v}
}

func sequenceInsert(c *rule.Call) []*rule.Datum {
	members := MembersOf(c, 0)
	p := position(c, 2, len(members)+1, len(members))
	if c.Has(2) && c.Ints(2)[0] < 0 { // counts from the end of the members there are
		p = position(c, 2, len(members), 0)
	}
	out := append(make([]*rule.Datum, 0, len(members)+1), members[:p]...)
	return Sequence(append(append(out, Member(c.Value(1))), members[p:]...))
}

func sequenceErase(c *rule.Call) []*rule.Datum {
	members := MembersOf(c, 0)
	p := position(c, 1, len(members), len(members)-1)
	if p < 0 {
		panic(diag.New(spec.CodeModel, "the sequence is empty, expected a member to erase"))
	}
	return Sequence(append(append(make([]*rule.Datum, 0, len(members)), members[:p]...), members[p+1:]...))
}

func sequenceLength(c *rule.Call) []*rule.Datum {
	return []*rule.Datum{{Arr: array.Scalar(int64(len(MembersOf(c, 0))))}}
}

// Derive computes tensors of tensors: at once where those are constants.
func Derive(c *rule.Call, in []*rule.Datum, build func(c *rule.Call) []op.Value) []*rule.Datum {
	d := *c
	d.In, d.Used = in, maps.Clone(c.Used)
	outs := d.ByConstants(&rule.Rule{Build: build})
	if outs == nil {
		d.Write()
		outs = d.Values(build(&d))
	}
	return outs
}

func splitToSequence(c *rule.Call) []*rule.Datum {
	rank := c.Rank(0)
	axis := c.Axis(c.Int("axis", 0), rank)
	keep := c.Flag("keepdims", true) || c.Has(1)
	length, known := c.Type(0).Dim(axis).Int()
	if !known {
		panic(diag.New(spec.CodeValue, "the size of axis "+strconv.Itoa(axis)+" is not known, and the number of members follows from it"))
	}
	sizes := pieces(c, length)
	members := Derive(c, c.In[:1], func(c *rule.Call) []op.Value {
		if len(sizes) == 0 {
			return nil
		}
		pieces := c.Items(c.Do(std.Split, std.SplitAttrs{Sizes: shape.ConstDims(sizes...), Dim: axis}, c.X(0)), len(sizes))
		for i := range pieces {
			if !keep {
				pieces[i] = c.Do(std.Squeeze, std.SqueezeAttrs{Dim: op.IntList(axis)}, pieces[i])
			}
		}
		return pieces
	})
	return Sequence(members)
}

// pieces are the sizes that operand 1 of SplitToSequence cuts a length into.
func pieces(c *rule.Call, length int) (sizes []int) {
	step := 1
	if c.Has(1) {
		list := c.Ints(1)
		if c.Rank(1) > 0 {
			return list
		}
		if step = list[0]; step < 1 {
			panic(diag.New(spec.CodeModel, "the size of the pieces is "+strconv.Itoa(step)+", expected 1 or more"))
		}
	}
	if (length+step-1)/step > modelfile.MostMembers {
		panic(diag.New(spec.CodeModel, "the sequence has more than "+strconv.Itoa(modelfile.MostMembers)+" members"))
	}
	for ; length > 0; length -= step {
		sizes = append(sizes, min(step, length))
	}
	return sizes
}

func concatFromSequence(c *rule.Call) []*rule.Datum {
	members := MembersOf(c, 0)
	if len(members) == 0 {
		panic(diag.New(spec.CodeModel, "the sequence is empty, expected a member or more"))
	}
	axis, fresh := c.Int("axis", 0), c.Flag("new_axis", false)
	if !c.Given("axis") {
		panic(diag.New(spec.CodeModel, "attribute axis is missing"))
	}
	return Derive(c, members, func(c *rule.Call) []op.Value {
		if fresh {
			return c.One(std.Stack, std.DimAttrs{Dim: axis}, c.Xs()...)
		}
		return c.One(std.Cat, std.DimAttrs{Dim: axis}, c.Xs()...)
	})
}

func optional(c *rule.Call) []*rule.Datum {
	c.Ignore("type")
	if !c.Has(0) {
		return []*rule.Datum{{None: true}}
	}
	v := *c.In[0]
	return []*rule.Datum{&v}
}

func optionalHasElement(c *rule.Call) []*rule.Datum {
	return []*rule.Datum{{Arr: array.Scalar(c.Has(0) && !c.In[0].None)}}
}

func optionalGetElement(c *rule.Call) []*rule.Datum {
	v := *c.Value(0)
	if v.None {
		panic(diag.New(spec.CodeModel, "the optional holds nothing, expected a value"))
	}
	return []*rule.Datum{&v}
}
