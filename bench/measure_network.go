package main

import (
	"os"
	"runtime/debug"
	"strings"

	"github.com/gofx-dev/gofx/bench/peers"
)

// network lines up the competitors of a whole network: ways of gofx, the first of
// which is ours of the row, then the peers, with the same weights.
func (b *bench) network(c *Case, row *Row, f *field) error {
	w, err := openNetwork(c.Network, c.Dims)
	if err != nil {
		return err
	}
	if c.Feed != nil {
		if err := c.Feed(w); err != nil {
			return err
		}
	}
	theirs := w.ready
	if c.Quant == nil {
		c.Work = workOf(w.ready, nil)
	} else if theirs, err = w.forPeers(*c.Quant); err != nil {
		return err
	} else if c.Work, err = w.quantisedWork(*c.Quant); err != nil {
		return err
	}
	dir, err := os.MkdirTemp(b.dir, "network")
	if err != nil {
		return err
	}
	f.closes = append(f.closes, func() {
		os.RemoveAll(dir)
		debug.FreeOSMemory()
	})
	prepare := func(threads int) (*Ours, error) { return c.Engines[0].Ours(w, threads) }
	if err := b.ours(row, f, prepare); err != nil {
		return err
	}
	f.list = append(f.list, b.beside(c, row)...)
	if err := b.otherWays(c, row, f, w, dir); err != nil {
		return err
	}
	if c.Op != "" && len(b.procs) > 0 {
		x, err := w.export(dir, c, theirs)
		if err != nil {
			return err
		}
		b.load(c, row, f, b.networkRequests(c, row, x))
	}
	return nil
}

// otherWays lines up gofx's other ways to compute the network.
func (b *bench) otherWays(c *Case, row *Row, f *field, w *network, dir string) error {
	for _, e := range c.Engines[1:] {
		if !b.engines && e.Name != "float" {
			continue
		}
		if e.Ours == nil && c.Op != "" {
			if _, err := w.dump(dir, w.ready); err != nil { // the program reads its inputs there
				return err
			}
		}
		r, err := b.engine(c, row, f, w, e, dir)
		if err != nil {
			b.leaveOut(c, row, e.Name, err)
			continue
		}
		r.engine = true
		f.list = append(f.list, r)
	}
	return nil
}

// engine prepares another way of gofx and compares its results.
func (b *bench) engine(c *Case, row *Row, f *field, w *network, e Engine, dir string) (*runner, error) {
	if e.Ours != nil {
		o, err := e.Ours(w, b.threads)
		if err != nil {
			return nil, err
		}
		row.reads(e.Name, o)
		if e.Rough {
			return oursRunner(e.Name, o), nil
		}
		return oursRunner(e.Name, o), c.disagree(e.Name, f.want, peers.ProbeAll(o.Out))
	}
	p, err := w.generated(dir, b.threads)
	if err != nil {
		return nil, err
	}
	f.closes = append(f.closes, p.Close)
	return b.loaded(c, row, f, p, peerCase{name: e.Name})
}

// networkRequests returns the requests to the available peers for a network.
func (b *bench) networkRequests(c *Case, row *Row, x *exported) (list []peerCase) {
	add := func(name, process string, load peers.Request, err error) {
		switch {
		case b.procs[process] == nil:
		case err != nil:
			b.leaveOut(c, row, name, err)
		case c.Quant == nil && b.coarse[name] != "":
			row.LeftOut = append(row.LeftOut, name+": "+b.coarse[name])
		default:
			list = append(list, peerCase{name: name, process: process, load: load})
		}
	}
	for _, v := range x.torch(c) {
		if b.newest(v.process) || !v.newest {
			add(v.name, v.process, peers.Request{Op: c.Op, File: v.dir, Variant: v.variant}, nil)
		}
	}
	file := peers.Request{File: x.onnx, Inputs: x.feeds, Threads: b.threads}
	add("openvino", "openvino", file, x.onnxErr)
	if x.dynamic && b.newest("ort") { // it quantises the network in floats itself
		file.File, file.Variant = x.floatONNX, "dynamic"
		add("ort", "ort", file, nil)
	} else {
		add("ort", "ort", file, x.onnxErr)
	}
	program := peers.Request{File: x.mlir, Inputs: x.feeds, Weights: x.weights}
	add("jax", "jax", program, x.mlirErr)
	if c.Quant == nil { // one call of a quantised network takes minutes
		add("iree", "iree", program, x.mlirErr)
	}
	if x.gguf != "" && b.procs["llama"] != nil { // which keeps the keys and values to itself
		list = append(list, peerCase{name: "llama", process: "llama", results: 1,
			load: peers.Request{File: x.gguf, Inputs: x.feeds[:1], Attrs: map[string]any{"past": x.past}}})
	}
	return list
}

// newest reports whether the peer is not one that stands in for a newer one: PyTorch of the
// distribution, ONNX Runtime under Node.
func (b *bench) newest(name string) bool {
	p := b.procs[name]
	return p != nil && !strings.HasPrefix(p.Version, "torch 1.") && !strings.HasPrefix(p.Version, "onnxruntime 1.30")
}
