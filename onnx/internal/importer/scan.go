package importer

import (
	"strconv"

	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/goname"
	pb "github.com/gofx-dev/gofx/internal/onnxpb"
	"github.com/gofx-dev/gofx/onnx/internal/rule"
	"github.com/gofx-dev/gofx/onnx/internal/spec"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
)

// scan runs over sequences along any axis, in either direction.
func scan(c *control) []*rule.Datum {
	sc := scanOf(c)
	sc.inAxes, sc.inBack = scanList(c, "scan_input_axes", sc.seqs), scanList(c, "scan_input_directions", sc.seqs)
	sc.outAxes, sc.outBack = scanList(c, "scan_output_axes", sc.results), scanList(c, "scan_output_directions", sc.results)
	return scanOver(c, sc)
}

// scanned is a Scan's description of its operands and results.
type scanned struct {
	g                                *pb.Graph
	seqs, carry, results             int
	inAxes, inBack, outAxes, outBack []int
}

func scanOf(c *control) scanned {
	g := c.graph("body")
	sc := scanned{g: g, seqs: c.Int("num_scan_inputs", 0)}
	sc.carry = len(c.In) - sc.seqs
	sc.results = len(g.Outputs) - sc.carry
	if sc.seqs < 1 || sc.carry < 0 || sc.results < 0 || len(g.Inputs) != len(c.In) {
		panic(diag.New(spec.CodeModel, "the body has "+strconv.Itoa(len(g.Inputs))+" inputs for "+strconv.Itoa(len(c.In))+" operands"))
	}
	return sc
}

// scanBatch is the Scan of operator set 8, for each member of a batch: a scan over the
// batch, whose body is the scan over the sequences.
func scanBatch(c *control) []*rule.Datum {
	if len(c.In) == 0 || c.In[0] != nil {
		panic(diag.New(spec.CodeOperator, "Scan of operator set 8 with lengths of the sequences is not supported"))
	}
	c.In = c.In[1:]
	sc := scanOf(c)
	sc.inAxes, sc.inBack = make([]int, sc.seqs), scanList(c, "directions", sc.seqs)
	sc.outAxes, sc.outBack = make([]int, sc.results), make([]int, sc.results)
	s := region(c, "batch")
	b := s.cur.Graph()
	own := c.im.Bodies[b]
	of := *c.Call
	of.Cursor, of.Depth, of.Main, of.In = s.cur, s.bodies, false, nil
	inner := &control{&of, c.im, s}
	var args []*graph.Node
	for i := range c.In {
		if c.Rank(i) < 1 {
			panic(diag.New(spec.CodeModel, "input "+strconv.Itoa(i+1)+" has no dimensions, expected a batch"))
		}
		x := c.im.Node(c.Cursor, c.In[i])
		args = append(args, x)
		t := x.Type()
		inner.In = append(inner.In, &rule.Datum{Name: sc.g.Inputs[i].Name, Node: own.Input("x", t.WithDims(t.Dims().Sub(1, t.Rank())))})
	}
	outs := scanOver(inner, sc)
	c.im.Finish(s.cur, outs...)
	for _, v := range own.Captured {
		args = append(args, c.im.Node(c.Cursor, v))
	}
	n := c.Cursor.Region(op.Scan, op.LoopAttrs{Seqs: len(c.In)}, []*graph.Graph{b}, args...)
	return c.Results(n, len(outs))
}

func scanOver(c *control, sc scanned) []*rule.Datum {
	g, carry, inAxes, inBack := sc.g, sc.carry, sc.inAxes, sc.inBack
	c.Write()
	s := region(c, "body")
	b := s.cur.Graph()
	own := c.im.Bodies[b]
	var args []*graph.Node
	for i := range c.In {
		x := c.X(i)
		t := x.Type()
		if k := i - carry; k >= 0 {
			if a := c.Axis(inAxes[k], c.Rank(i)); a != 0 {
				x = c.Do(std.Movedim, std.MovedimAttrs{Source: op.IntList(a), Destination: op.IntList(0)}, x)
			}
			if inBack[k] != 0 {
				x = c.Do(std.Flip, std.FlipAttrs{Dims: op.IntList(0)}, x)
			}
			t = x.Type()
			t = t.WithDims(t.Dims().Sub(1, t.Rank()))
		}
		args = append(args, x.(*graph.Node))
		v := &rule.Datum{Name: g.Inputs[i].Name, Node: own.Input(goname.Legal(g.Inputs[i].Name, "x"), t)}
		s.values[v.Name] = v
	}
	outs := fill(c, s, g)
	c.im.Finish(s.cur, outs...)
	for _, v := range own.Captured {
		args = append(args, c.im.Node(c.Cursor, v))
	}
	n := c.Cursor.Region(op.Scan, op.LoopAttrs{Carry: carry, Seqs: sc.seqs}, []*graph.Graph{b}, args...)
	vs := c.Results(n, len(outs))
	for k := range sc.results {
		var x op.Value = vs[carry+k].Node
		if sc.outBack[k] != 0 {
			x = c.Do(std.Flip, std.FlipAttrs{Dims: op.IntList(0)}, x)
		}
		if sc.outAxes[k] != 0 {
			x = c.Do(std.Movedim, std.MovedimAttrs{Source: op.IntList(0), Destination: op.IntList(sc.outAxes[k])}, x)
		}
		vs[carry+k] = &rule.Datum{Node: x.(*graph.Node)}
	}
	return vs
}

// scanList is an attribute with an entry for each sequence.
func scanList(c *control, name string, n int) []int {
	v := c.List(name)
	if v == nil {
		v = make([]int, n)
	}
	if len(v) != n {
		panic(diag.New(spec.CodeModel, name+" has "+strconv.Itoa(len(v))+" entries, expected "+strconv.Itoa(n)))
	}
	return v
}
