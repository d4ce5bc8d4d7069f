package pt2

import (
	"strconv"

	"slices"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/shape"
)

// joinRules join tensors.
var joinRules = map[string]rule{
	"cat concat concatenate": {args: "tensors dim=0", build: cat},
	"stack": {args: "tensors dim=0", build: func(c *call) []op.Value {
		return c.one(std.Stack, std.DimAttrs{Dim: c.int("dim")}, together(c, "tensors")...)
	}},
	"meshgrid":                  {args: "tensors", run: func(c *call) []*value { return meshgrid(c, "ij") }},
	"meshgrid.indexing":         {args: "tensors indexing", run: func(c *call) []*value { return meshgrid(c, c.text("indexing", "ij")) }},
	"broadcast_tensors":         {args: "tensors", run: broadcastTensors},
	"embedding":                 {args: "weight indices padding_idx=-1 | scale_grad_by_freq sparse", build: embedding},
	"embedding_bag":             {args: bagArgs + "=False mode=0 per_sample_weights=None include_last_offset=False | sparse", build: embeddingBag},
	"embedding_bag.padding_idx": {args: bagArgs + " mode per_sample_weights include_last_offset padding_idx | sparse", build: embeddingBag},
	"_embedding_bag _embedding_bag_forward_only": {args: bagArgs + "=False mode=0 per_sample_weights=None include_last_offset=False padding_idx=-1 | sparse", build: embeddingBag},
	"one_hot": {args: "self num_classes=-1", build: func(c *call) []op.Value {
		return c.one(std.OneHot, std.OneHotAttrs{NumClasses: c.dim("num_classes")}, c.x("self"))
	}},
}

// embedding takes rows; those of a padding index are constants for gradients.
func embedding(c *call) []op.Value {
	x := c.x("indices")
	y := c.do(std.Embedding, nil, x, c.x("weight"))
	if i := c.int("padding_idx"); i >= 0 {
		at := c.do(std.Unsqueeze, std.DimAttrs{Dim: -1}, c.do(std.Eq, std.BinaryAttrs{Other: op.Int(int64(i))}, x))
		y = c.do(std.Where, nil, at, c.do(std.Detach, nil, y), y)
	}
	return []op.Value{y}
}

const bagArgs = "weight indices offsets scale_grad_by_freq"

// embeddingBag reduces bags of rows; its other results, which its gradient reads, are not there.
func embeddingBag(c *call) []op.Value {
	modes := []string{"sum", "mean", "max"}
	m := c.int("mode")
	if m < 0 || m >= len(modes) {
		panic(refuse(CodeProgram, "argument mode is "+strconv.Itoa(m)+", expected 0 to 2"))
	}
	if _, ok := c.def["padding_idx"]; ok && c.given("padding_idx") && c.int("padding_idx") >= 0 {
		panic(refuse(CodeArgument, "padding_idx="+strconv.Itoa(c.int("padding_idx"))+" is not supported: rows of weight that bags leave out"))
	}
	a := std.EmbeddingBagAttrs{Mode: modes[m], IncludeLastOffset: c.bool("include_last_offset")}
	return append(c.one(std.EmbeddingBag, a, c.x("indices"), c.x("weight"), c.x("offsets"), c.opt("per_sample_weights")), nil, nil, nil)
}

// together are the members of a list, in the type that they have together.
func together(c *call, name string) []op.Value {
	list := c.tensors(name)
	types := make([]shape.Type, len(list))
	for i, n := range list {
		types[i] = n.Type()
	}
	var out []op.Value
	if len(list) == 0 {
		panic(refuse(CodeProgram, "the list is empty"))
	}
	d := op.Promote(types)
	for _, n := range list {
		out = append(out, c.cast(d, n))
	}
	return out
}

// cat leaves out tensors of one dimension without elements, as PyTorch does next to others.
func cat(c *call) []op.Value {
	list := together(c, "tensors")
	rank := 0
	for _, v := range list {
		rank = max(rank, v.Type().Rank())
	}
	if rank > 1 {
		list = slices.DeleteFunc(list, func(v op.Value) bool { return v.Type().Rank() == 1 && v.Type().Dim(0).Is(0) })
	}
	if len(list) == 1 {
		return c.one(std.Clone, nil, list[0])
	}
	return c.one(std.Cat, std.DimAttrs{Dim: c.int("dim")}, list...)
}

func meshgrid(c *call, indexing string) []*value {
	list := c.tensors("tensors")
	if indexing != "ij" && indexing != "xy" {
		panic(refuse(CodeArgument, "indexing is "+quote(indexing)+", expected ij or xy"))
	}
	swap := indexing == "xy" && len(list) > 1
	order := make([]int, len(list))
	for i := range order {
		order[i] = i
	}
	if swap {
		order[0], order[1] = 1, 0
	}
	dims := make([]shape.Dim, len(list))
	for i, n := range list {
		dims[order[i]] = n.Type().Dims().Prod()
	}
	out := &value{isList: true}
	for i, n := range list {
		each := make([]shape.Dim, len(list))
		for k := range each {
			each[k] = one
		}
		each[order[i]] = dims[order[i]]
		v := c.do(std.Reshape, std.ReshapeAttrs{Shape: shape.Of(each...)}, n)
		out.list = append(out.list, fresh(nodeOf(c, c.do(std.Expand, std.ExpandAttrs{Shape: shape.Of(dims...)}, v))))
	}
	return []*value{out}
}

func broadcastTensors(c *call) []*value {
	list := c.tensors("tensors")
	var all op.Value
	for _, n := range list {
		x := c.do(std.ZerosLike, std.LikeAttrs{DType: array.F32}, n)
		if all == nil {
			all = x
		} else {
			all = c.do(std.Add, nil, all, x)
		}
	}
	out := &value{isList: true}
	for _, n := range list {
		out.list = append(out.list, fresh(nodeOf(c, c.do(std.Expand, std.ExpandAttrs{Shape: all.Type().Dims()}, n))))
	}
	return []*value{out}
}
