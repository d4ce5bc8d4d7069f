// Command gomlx computes small networks and their gradients by GoMLX, written by formula a second time. It is a module
// of its own, so that nothing else depends on GoMLX.
//
// Standard input has a line of JSON for each network: {"name", "args": [{"dims", "values", "ints"}]}. Each is
// answered by a line {"loss", "grads"}: the derivatives with respect to the arguments that are floats, flat
// and in order. Package passes/grad asks and keeps the answers.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/gomlx/gomlx/backends"
	_ "github.com/gomlx/gomlx/backends/simplego"
	"github.com/gomlx/gomlx/pkg/core/graph"
	"github.com/gomlx/gomlx/pkg/core/tensors"
)

type argument struct {
	Dims   []int     `json:"dims"`
	Values []float64 `json:"values"`
	Ints   bool      `json:"ints"`
}

type question struct {
	Name string     `json:"name"`
	Args []argument `json:"args"`
}

type answer struct {
	Loss  float64     `json:"loss"`
	Grads [][]float64 `json:"grads"`
}

func (a argument) tensor() any {
	if !a.Ints {
		return tensors.FromFlatDataAndDimensions(a.Values, a.Dims...)
	}
	ints := make([]int64, len(a.Values))
	for i, v := range a.Values {
		ints[i] = int64(v)
	}
	return tensors.FromFlatDataAndDimensions(ints, a.Dims...)
}

func (q question) answer(backend backends.Backend) (answer, error) {
	loss, ok := networks[q.Name]
	if !ok {
		return answer{}, fmt.Errorf("no network is called %q", q.Name)
	}
	exec, err := graph.NewExec(backend, func(x []*graph.Node) []*graph.Node {
		var wrt []*graph.Node
		for i, a := range q.Args {
			if !a.Ints {
				wrt = append(wrt, x[i])
			}
		}
		l := loss(x)
		return append([]*graph.Node{l}, graph.Gradient(l, wrt...)...)
	})
	if err != nil {
		return answer{}, err
	}
	in := make([]any, len(q.Args))
	for i, a := range q.Args {
		in[i] = a.tensor()
	}
	out, err := exec.Exec(in...)
	if err != nil {
		return answer{}, fmt.Errorf("%s: %w", q.Name, err)
	}
	var said answer
	for i, t := range out {
		v, err := tensors.CopyFlatData[float64](t)
		if err != nil {
			return answer{}, err
		}
		if i == 0 {
			said.Loss = v[0]
			continue
		}
		said.Grads = append(said.Grads, v)
	}
	return said, nil
}

func run(in io.Reader, out io.Writer) error {
	// One call after the other: side by side, the workers of v0.26.0 wait for each other for ever on the network "memory".
	backend, err := backends.NewWithConfig("go:ops_sequential")
	if err != nil {
		return err
	}
	questions, answers := json.NewDecoder(in), json.NewEncoder(out)
	for {
		var q question
		if err := questions.Decode(&q); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		a, err := q.answer(backend)
		if err != nil {
			return err
		}
		if err := answers.Encode(a); err != nil {
			return err
		}
	}
}

func main() {
	if err := run(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
