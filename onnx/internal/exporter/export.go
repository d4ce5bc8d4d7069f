package exporter

import (
	"bufio"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	pb "github.com/gofx-dev/gofx/internal/onnxpb"
	"github.com/gofx-dev/gofx/internal/swap"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/onnx/internal/spec"
)

// Options are onnx.ExportOptions, where the fields are documented.
type Options struct {
	Opset    int
	Inputs   []string
	Outputs  []string
	External bool
}

// oldestOpset is the oldest operator set that is written.
const oldestOpset = 17

// Export is onnx.Export.
func Export(w io.Writer, m *graph.Module, o Options) error {
	model, data, err := exportModel(m, o)
	if err != nil {
		return err
	}
	s := pb.NewStream(model, data)
	if o.External {
		return diag.New(spec.CodeExport, "constants in a file of their own need a path").WithHint("use ExportFile")
	}
	if s.Len() > pb.MaxModel {
		return diag.New(spec.CodeExport, "the model takes "+strconv.Itoa(s.Len())+" bytes, a file holds "+strconv.Itoa(pb.MaxModel)).
			WithHint("use ExportFile, which puts the constants next to it")
	}
	_, err = s.WriteTo(w)
	return err
}

// ExportFile is onnx.ExportFile.
func ExportFile(path string, m *graph.Module, o Options) (err error) {
	model, data, err := exportModel(m, o)
	if err != nil {
		return err
	}
	s := pb.NewStream(model, data)
	beside := ""
	if o.External || s.Len() > pb.MaxModel {
		beside = path + ".data"
	}
	var done []*replaced
	defer func() {
		for _, f := range done {
			f.drop()
		}
	}()
	if beside != "" {
		f, err := replace(beside, func(w io.Writer) error { return outside(w, model, data, filepath.Base(beside)) })
		if err != nil {
			return err
		}
		done = append(done, f)
		s = pb.NewStream(model, data)
	}
	f, err := replace(path, func(w io.Writer) error { _, err := s.WriteTo(w); return err })
	if err != nil {
		return err
	}
	var files []swap.File
	for _, f := range append(done, f) {
		files = append(files, swap.File{Temp: f.temp, Path: f.path})
	}
	if err := swap.Into(files, len(files)-1); err != nil { // the model comes last
		f.drop()
		return unwritable(path, err)
	}
	return nil
}

// pageSize is the alignment of data outside of the file, so that they can be mapped.
const pageSize = 4096

// leastOutside is the size in bytes from which on constants are put outside.
const leastOutside = 1024

// outside writes the constants and notes in the model where they are.
func outside(w io.Writer, m *pb.Model, data tensorData, name string) error {
	at := 0
	for _, t := range m.Graph.Initializers {
		size, write := data(t)
		if size < leastOutside {
			continue
		}
		pad := (pageSize - at%pageSize) % pageSize
		if _, err := w.Write(make([]byte, pad)); err != nil {
			return err
		}
		at += pad
		if err := write(w); err != nil {
			return err
		}
		t.Location = 1
		t.External = []*pb.Entry{{Key: "location", Value: name}, {Key: "offset", Value: strconv.Itoa(at)}, {Key: "length", Value: strconv.Itoa(size)}}
		at += size
	}
	return nil
}

// unfinished begins the names of files that are being written.
const unfinished = ".onnx-"

// replaced is a file that was written to replace another one in the same folder.
type replaced struct{ temp, path string }

func (f *replaced) drop() { _ = os.Remove(f.temp) } // gone where it has its place

// replace writes a file in the folder of path.
func replace(path string, write func(io.Writer) error) (*replaced, error) {
	swap.Clean(filepath.Dir(path), unfinished)
	f, err := swap.Create(path, unfinished)
	if err != nil {
		return nil, unwritable(path, err)
	}
	r := &replaced{f.Name(), path}
	b := bufio.NewWriterSize(f, 1<<20)
	err = errors.Join(write(b), b.Flush(), f.Sync(), f.Close())
	if err != nil {
		r.drop()
		return nil, unwritable(path, err)
	}
	return r, nil
}

func unwritable(path string, err error) error {
	e := diag.New(spec.CodeRead, "cannot be written").At(diag.Pos{File: path})
	e.Err = err
	return e
}

// tensorData says how the data of a constant are written.
type tensorData func(t *pb.Tensor) (size int, write func(io.Writer) error)

// exportModel returns the model with constants that have no data, and the data. Which
// operator set is needed is known when everything was written once.
func exportModel(m *graph.Module, o Options) (*pb.Model, tensorData, error) {
	if o.Opset != 0 && (o.Opset < oldestOpset || o.Opset > spec.NewestOpset) {
		return nil, nil, diag.New(spec.CodeExport, "operator set "+strconv.Itoa(o.Opset)+" is not written, expected "+strconv.Itoa(oldestOpset)+" to "+strconv.Itoa(spec.NewestOpset))
	}
	prepared, err := readied(m)
	if err != nil {
		return nil, nil, err
	}
	newTrees := false
	for target := max(o.Opset, oldestOpset); ; {
		x := &exporter{mod: prepared, options: o, target: target, need: target, newTrees: newTrees, arrays: map[string]*array.Array{}, scalars: map[scalarKey]*exported{}, workspace: &kernel.Workspace{}}
		model, err := x.model()
		switch {
		case x.need > target:
			target = x.need
		case err != nil:
			return nil, nil, err
		case x.mixed:
			newTrees = true
		default:
			return model, x.data, nil
		}
	}
}

// data writes an array as ONNX has it: little-endian, without gaps, elements of less than a
// byte packed.
func (x *exporter) data(t *pb.Tensor) (size int, write func(io.Writer) error) {
	a := x.arrays[t.Name]
	if d := a.DType(); d.Bits() < 8 {
		packed := make([]byte, array.PackedLen(d, a.Len()))
		return len(packed), func(w io.Writer) error {
			array.Pack(d, packed, array.Bytes(array.Contiguous(a)))
			_, err := w.Write(packed)
			return err
		}
	}
	return a.Len() * a.DType().Size(), func(w io.Writer) error {
		const piece = 1 << 20
		b := array.Bytes(array.Contiguous(a))
		width := a.DType().Size()
		if spec.LittleEndian || width == 1 {
			_, err := w.Write(b)
			return err
		}
		for len(b) > 0 {
			n := min(len(b), piece)
			part := append([]byte(nil), b[:n]...)
			swapBytes(part, width)
			if _, err := w.Write(part); err != nil {
				return err
			}
			b = b[n:]
		}
		return nil
	}
}

// swapBytes reverses the bytes of each element.
func swapBytes(b []byte, width int) {
	for i := 0; i < len(b); i += width {
		for j, k := i, i+width-1; j < k; j, k = j+1, k-1 {
			b[j], b[k] = b[k], b[j]
		}
	}
}
