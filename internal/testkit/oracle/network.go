package oracle

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/array/safetensors"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/generators/opsrc"
)

// network is the content of network.json: calls in order, on values that are
// known by names. Weights and inputs are in tensors.safetensors.
type network struct {
	Inputs, Weights []string
	Calls           []entry // Key names the result
	Outputs         []string
	Wrt             []string `json:",omitempty"` // weights by which the first output is differentiated
}

// DumpNetwork writes a prepared graph (lowering.Prepare) without symbols, its
// weights and inputs to a folder, from which network.py makes a PyTorch module.
func DumpNetwork(dir string, m *graph.Module, in []*array.Array) error {
	return dumpNetwork(dir, m, in, nil)
}

// dumpNetwork is DumpNetwork with paths of weights by which is differentiated.
func dumpNetwork(dir string, m *graph.Module, in []*array.Array, wrt []string) error {
	sources, err := opsrc.Load()
	if err != nil {
		return err
	}
	var net network
	var tensors []safetensors.Named
	names, weights := map[*graph.Node]string{}, map[string]string{}
	for n := range m.Graph.All() {
		switch n.Opcode() {
		case graph.Placeholder:
			i := len(net.Inputs)
			names[n] = "x" + strconv.Itoa(i)
			net.Inputs = append(net.Inputs, names[n])
			tensors = append(tensors, safetensors.Named{Name: names[n], Array: array.Contiguous(in[i])})
		case graph.GetAttr:
			if weights[n.Target()] == "" {
				weights[n.Target()] = "w" + strconv.Itoa(len(net.Weights))
				net.Weights = append(net.Weights, weights[n.Target()])
				tensors = append(tensors, safetensors.Named{Name: weights[n.Target()], Array: array.Contiguous(m.Param(n.Target()).Value)})
			}
			names[n] = weights[n.Target()]
		case graph.CallFunction:
			if n.Op() == nil || len(n.Regions()) > 0 {
				return fmt.Errorf("%s has no PyTorch expression", n)
			}
			names[n] = "v" + strconv.Itoa(len(net.Calls))
			e := newEntry(n.Op(), sources[n.Op()], n.Attrs())
			e.Key = names[n]
			for _, a := range n.Args() {
				e.In = append(e.In, name(names, a))
			}
			net.Calls = append(net.Calls, e)
		case graph.Output:
			for _, a := range n.Args() {
				net.Outputs = append(net.Outputs, names[a])
			}
		default:
			return fmt.Errorf("%s is a %s, expected a prepared graph", n, n.Opcode())
		}
	}
	for _, path := range wrt {
		if weights[path] == "" {
			return fmt.Errorf("the network does not read %s", path)
		}
		net.Wrt = append(net.Wrt, weights[path])
	}
	text, err := json.Marshal(net)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "network.json"), text, 0o644); err != nil {
		return err
	}
	return writeTensors(filepath.Join(dir, "tensors.safetensors"), tensors)
}

// name returns the name of an operand, nil for an absent one.
func name(names map[*graph.Node]string, n *graph.Node) *string {
	if n == nil {
		return nil
	}
	s := names[n]
	return &s
}

// writeTensors writes a file that may be larger than the memory that is free.
func writeTensors(path string, tensors []safetensors.Named) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	w := bufio.NewWriterSize(f, 1<<20)
	if err := safetensors.Write(w, tensors, nil); err != nil {
		return err
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return f.Close()
}
