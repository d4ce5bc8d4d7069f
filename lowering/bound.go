package lowering

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/shape"
)

// AnyMachine is more bytes than any machine holds, and few enough for sums of sizes to stay
// in range.
const AnyMachine = 1 << 44

// Bound refuses values whose sizes are numbers and whose memory is beyond Options.MaxBytes,
// or AnyMachine where that is 0: what a machine holds is asked in runs, for the one that
// compiles may not be the one that runs. Of inputs and views, which take no memory of their
// own, the elements must have numbers. Rules that choose kernels may then multiply sizes.
func Bound(g *graph.Graph, o Options) error {
	most := int64(AnyMachine)
	if o.MaxBytes > 0 && o.MaxBytes < most {
		most = o.MaxBytes
	}
	var errs diag.List
	for n := range g.All() {
		if err := bound(n, most); err != nil {
			errs.Add(err)
		}
	}
	return errs.Err()
}

func bound(n *graph.Node, most int64) error {
	switch n.Opcode() {
	case graph.Output:
		return nil
	case graph.Placeholder, graph.GetAttr:
		most = AnyMachine
	}
	view := n.Op() != nil && n.Op().ViewOf > 0
	types := []shape.Type{n.Type()}
	if t := n.Type(); t.Kind() == shape.Tuple {
		types = nil
		for i := range t.Len() {
			types = append(types, t.Member(i))
		}
	}
	for _, t := range types {
		d, dims, ok := t.Concrete()
		if !ok {
			continue
		}
		count, ok := array.NumElems(dims)
		switch size := max(d.Size(), 1); {
		case !ok || !view && count > AnyMachine/size:
			return n.Error(array.CodeTooLarge, t.String()+" takes more bytes than any machine holds").
				WithHint("check the sizes: one of them is not meant, or their product is not")
		case !view && int64(count)*int64(size) > most:
			e := n.Error(array.CodeTooLarge, "")
			l := array.TooLargeFor(t.String(), int64(count)*int64(size), most)
			e.Msg, e.Hint = l.Msg, "check the sizes; Options.MaxBytes, and -max-bytes of fxgen, change the limit"
			return e
		}
	}
	return nil
}
