// Package harness is the part of a program of generated code that does not depend
// on the network: see package gen.
package harness

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/array/safetensors"
	"github.com/gofx-dev/gofx/bench/peers"
)

// Server serves one program.
type Server struct {
	dir    string // of the case: inputs, and below it the output of Build
	inputs *safetensors.File
	out    []*array.Array
}

// Open opens the case in the folder that is the program's argument. An error
// ends the program with a message.
func Open() *Server {
	s := &Server{dir: os.Args[1]}
	f, size := s.open("tensors.safetensors")
	var err error
	s.inputs, err = safetensors.Open(f, size)
	s.Check(err)
	return s
}

// Check ends the program at an error.
func (s *Server) Check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// Weights opens the package's weights.
func (s *Server) Weights() (*os.File, int64) { return s.open("gen", "weights.safetensors") }

func (s *Server) open(name ...string) (*os.File, int64) {
	f, err := os.Open(filepath.Join(append([]string{s.dir}, name...)...))
	s.Check(err)
	info, err := f.Stat()
	s.Check(err)
	return f, info.Size()
}

// In returns input i.
func (s *Server) In(i int) *array.Array {
	a, err := s.inputs.Get(fmt.Sprintf("x%d", i))
	s.Check(err)
	return a
}

// Out makes an array for the next result.
func (s *Server) Out(dtype string, dims ...int) *array.Array {
	d, ok := array.ParseDType(dtype)
	if !ok {
		s.Check(fmt.Errorf("there is no element type %s", dtype))
	}
	a := array.New(d, dims...)
	s.out = append(s.out, a)
	return a
}

// Serve answers requests with the function that computes the results.
func (s *Server) Serve(call func() error) {
	run := func(times int) error {
		for range times {
			if err := call(); err != nil {
				return err
			}
		}
		return nil
	}
	s.Check(peers.Serve(os.Stdin, os.Stdout, func(q *peers.Request) (a peers.Answer, err error) {
		switch q.Do {
		case "hello":
			a.Version = "generated"
		case "load":
			if err = run(1); err == nil {
				a.Probe = peers.ProbeAll(s.out)
			}
		case "run":
			return q.Time(run)
		case "drop":
		default:
			err = q.Unknown()
		}
		return a, err
	}))
}
