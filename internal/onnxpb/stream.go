package onnxpb

import (
	"encoding/binary"
	"io"
)

// MaxModel is how many bytes a message of protocol buffers may have.
const MaxModel = 1<<31 - 1

// Stream is a model that is written piece by piece: its constants, which are nearly all of
// it, are never held twice.
type Stream struct {
	head, graph []byte // the model without its graph, the graph without its constants
	tensors     []*Tensor
	starts      [][]byte // the tensors without their data
	data        []func(io.Writer) error
	sizes       []int
	total       int // of the graph
}

// NewStream takes a model apart. The data of the constant t are size bytes that data
// writes; those that the tensors have themselves are not looked at.
func NewStream(m *Model, data func(t *Tensor) (size int, write func(io.Writer) error)) *Stream {
	s := &Stream{tensors: m.Graph.Initializers}
	shell, g := *m, *m.Graph
	shell.Graph, g.Initializers = nil, nil
	s.head, s.graph = Append(nil, &shell), Append(nil, &g)
	s.total = len(s.graph)
	for _, t := range s.tensors {
		bare := *t
		bare.Raw = nil
		size, write := 0, (func(io.Writer) error)(nil)
		if t.Location == 0 {
			size, write = data(t)
		}
		start := Append(nil, &bare)
		if write != nil {
			start = key(start, 9, size)
		}
		s.starts, s.data, s.sizes = append(s.starts, start), append(s.data, write), append(s.sizes, size)
		s.total += len(key(nil, 5, len(start)+size)) + len(start) + size
	}
	return s
}

// Len is the length of the file.
func (s *Stream) Len() int { return len(s.head) + len(key(nil, 7, s.total)) + s.total }

// WriteTo writes the file.
func (s *Stream) WriteTo(w io.Writer) (int64, error) {
	c := &counter{w: w}
	c.write(s.head)
	c.write(key(nil, 7, s.total))
	c.write(s.graph)
	for i, start := range s.starts {
		c.write(key(nil, 5, len(start)+s.sizes[i]))
		c.write(start)
		if c.err == nil && s.data[i] != nil {
			c.err = s.data[i](c)
		}
	}
	return c.n, c.err
}

// key is the tag of a field of bytes, and their number.
func key(b []byte, number, size int) []byte {
	return binary.AppendUvarint(binary.AppendUvarint(b, uint64(number<<3|length)), uint64(size))
}

// counter counts the bytes that are written, up to the first error.
type counter struct {
	w   io.Writer
	n   int64
	err error
}

func (c *counter) write(b []byte) {
	if c.err == nil {
		_, c.err = c.Write(b)
	}
}

func (c *counter) Write(b []byte) (int, error) {
	n, err := c.w.Write(b)
	c.n += int64(n)
	return n, err
}
