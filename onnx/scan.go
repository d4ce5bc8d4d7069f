package onnx

import (
	"strconv"

	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/goname"
	pb "github.com/gofx-dev/gofx/internal/onnxpb"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
)

// scan runs over sequences along any axis, in either direction.
func scan(c *control) []*value {
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
	sc := scanned{g: g, seqs: c.int("num_scan_inputs", 0)}
	sc.carry = len(c.in) - sc.seqs
	sc.results = len(g.Outputs) - sc.carry
	if sc.seqs < 1 || sc.carry < 0 || sc.results < 0 || len(g.Inputs) != len(c.in) {
		panic(diag.New(CodeModel, "the body has "+strconv.Itoa(len(g.Inputs))+" inputs for "+strconv.Itoa(len(c.in))+" operands"))
	}
	return sc
}

// scanBatch is the Scan of operator set 8, for each member of a batch: a scan over the
// batch, whose body is the scan over the sequences.
func scanBatch(c *control) []*value {
	if len(c.in) == 0 || c.in[0] != nil {
		panic(diag.New(CodeOperator, "Scan of operator set 8 with lengths of the sequences is not supported"))
	}
	c.in = c.in[1:]
	sc := scanOf(c)
	sc.inAxes, sc.inBack = make([]int, sc.seqs), scanList(c, "directions", sc.seqs)
	sc.outAxes, sc.outBack = make([]int, sc.results), make([]int, sc.results)
	s := region(c, "batch")
	b := s.cur.Graph()
	own := c.im.bodies[b]
	of := *c.call
	of.cur, of.depth, of.main, of.in = s.cur, s.bodies, false, nil
	inner := &control{&of, c.im, s}
	var args []*graph.Node
	for i := range c.in {
		if c.rank(i) < 1 {
			panic(diag.New(CodeModel, "input "+strconv.Itoa(i+1)+" has no dimensions, expected a batch"))
		}
		x := c.im.in(c.cur, c.in[i])
		args = append(args, x)
		t := x.Type()
		inner.in = append(inner.in, &value{name: sc.g.Inputs[i].Name, node: own.input("x", t.WithDims(t.Dims().Sub(1, t.Rank())))})
	}
	outs := scanOver(inner, sc)
	c.im.finish(s.cur, outs...)
	for _, v := range own.captured {
		args = append(args, c.im.in(c.cur, v))
	}
	n := c.cur.Region(op.Scan, op.LoopAttrs{Seqs: len(c.in)}, []*graph.Graph{b}, args...)
	return c.results(n, len(outs))
}

func scanOver(c *control, sc scanned) []*value {
	g, carry, inAxes, inBack := sc.g, sc.carry, sc.inAxes, sc.inBack
	c.write()
	s := region(c, "body")
	b := s.cur.Graph()
	own := c.im.bodies[b]
	var args []*graph.Node
	for i := range c.in {
		x := c.x(i)
		t := x.Type()
		if k := i - carry; k >= 0 {
			if a := c.axis(inAxes[k], c.rank(i)); a != 0 {
				x = c.do(std.Movedim, std.MovedimAttrs{Source: op.IntList(a), Destination: op.IntList(0)}, x)
			}
			if inBack[k] != 0 {
				x = c.do(std.Flip, std.FlipAttrs{Dims: op.IntList(0)}, x)
			}
			t = x.Type()
			t = t.WithDims(t.Dims().Sub(1, t.Rank()))
		}
		args = append(args, x.(*graph.Node))
		v := &value{name: g.Inputs[i].Name, node: own.input(goname.Legal(g.Inputs[i].Name, "x"), t)}
		s.values[v.name] = v
	}
	outs := fill(c, s, g)
	c.im.finish(s.cur, outs...)
	for _, v := range own.captured {
		args = append(args, c.im.in(c.cur, v))
	}
	n := c.cur.Region(op.Scan, op.LoopAttrs{Carry: carry, Seqs: sc.seqs}, []*graph.Graph{b}, args...)
	vs := c.results(n, len(outs))
	for k := range sc.results {
		var x op.Value = vs[carry+k].node
		if sc.outBack[k] != 0 {
			x = c.do(std.Flip, std.FlipAttrs{Dims: op.IntList(0)}, x)
		}
		if sc.outAxes[k] != 0 {
			x = c.do(std.Movedim, std.MovedimAttrs{Source: op.IntList(0), Destination: op.IntList(sc.outAxes[k])}, x)
		}
		vs[carry+k] = &value{node: x.(*graph.Node)}
	}
	return vs
}

// scanList is an attribute with an entry for each sequence.
func scanList(c *control, name string, n int) []int {
	v := c.list(name)
	if v == nil {
		v = make([]int, n)
	}
	if len(v) != n {
		panic(diag.New(CodeModel, name+" has "+strconv.Itoa(len(v))+" entries, expected "+strconv.Itoa(n)))
	}
	return v
}
