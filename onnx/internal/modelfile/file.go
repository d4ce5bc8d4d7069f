package modelfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/internal/mapfile"
	pb "github.com/gofx-dev/gofx/internal/onnxpb"
	"github.com/gofx-dev/gofx/internal/swap"
	"github.com/gofx-dev/gofx/onnx/internal/spec"
)

// mostAtOnce is how many files of data are opened together with the model; more of them are opened
// when they are used.
const mostAtOnce = 1 << 12

// Read reads a model file and the files of its folder that hold its data, mapped into memory
// where the system has it. While it does so, nobody exchanges the files of the folder by
// internal/swap: those of the model are of one making.
func Read(path string) (*File, error) {
	defer swap.Hold(filepath.Dir(path), true)()
	mem, err := mapfile.ReadPath(path)
	if err != nil {
		return nil, unreadable(path, err)
	}
	f, err := Parse(mem.Bytes(), path, filepath.Dir(path))
	if err != nil {
		return nil, mem.Refuse(err)
	}
	f.mem = append(f.mem, mem)
	for _, t := range f.outside {
		if location := entry(t.External, "location"); t.Location == inFile && len(f.external) < mostAtOnce {
			_, _ = f.open(location) // what is wrong is an error where the data are used
		}
	}
	return f, nil
}

// inFile is the location of data that are in another file.
const inFile = 1

// entry is the last value of a key, "" where there is none.
func entry(list []*pb.Entry, key string) (value string) {
	for _, e := range list {
		if e.Key == key {
			value = e.Value
		}
	}
	return value
}

// Close releases the memory of the file and of the data files next to it.
func (f *File) Close() error { return mapfile.CloseAll(f.mem) }

// Absent is the length of an optional that holds nothing.
const Absent = -1

// File is a model as its file has it.
type File struct {
	Name     string // for messages
	dir      string // of external data, "" for none
	Model    *pb.Model
	outside  []*pb.Tensor // whose data are in other files
	external map[string][]byte
	mem      []*mapfile.Memory
}

func unreadable(path string, err error) error {
	msg := "cannot be read"
	if errors.Is(err, fs.ErrNotExist) {
		msg = "does not exist"
	}
	e := diag.New(spec.CodeRead, msg).At(diag.Pos{File: path})
	e.Err = err
	return e
}

// Parse reads a model from memory, which it shares. name is for messages; dir has the files of external
// data, "" for none.
func Parse(data []byte, name, dir string) (*File, error) {
	f := &File{Name: name, dir: dir, Model: &pb.Model{}, external: map[string][]byte{}}
	var err error
	if f.outside, err = pb.ReadWith(data, f.Model); err != nil {
		var e *diag.Error
		if errors.As(err, &e) {
			return nil, e.At(diag.Pos{File: name}).WithHint("the file is no ONNX model, or damaged; copy or export it again")
		}
		return nil, err
	}
	if f.Model.Graph == nil {
		return nil, diag.New(spec.CodeModel, "the model has no graph").At(diag.Pos{File: name}).WithHint("the file is no ONNX model, or damaged; copy or export it again")
	}
	return f, nil
}

// Data returns the bytes of a tensor outside of the file: those of a file in the
// model's folder, symbolic links followed and checked as well.
func (f *File) Data(t *pb.Tensor) ([]byte, *diag.Error) {
	location, offset, size := entry(t.External, "location"), int64(0), int64(-1)
	for _, e := range t.External {
		var err error
		switch e.Key {
		case "offset":
			offset, err = strconv.ParseInt(e.Value, 10, 64)
		case "length":
			size, err = strconv.ParseInt(e.Value, 10, 64)
		}
		if err != nil || offset < 0 || e.Key == "length" && size < 0 {
			return nil, diag.New(spec.CodeExternal, "tensor "+diag.Quote(t.Name)+": "+e.Key+" "+diag.Quote(e.Value)+" is no count of bytes")
		}
	}
	all, err := f.open(location)
	if err != nil {
		return nil, err
	}
	if size < 0 {
		size = int64(len(all)) - offset
	}
	if offset > int64(len(all)) || size < 0 || size > int64(len(all))-offset {
		return nil, diag.New(spec.CodeExternal, "tensor "+diag.Quote(t.Name)+" ends after the "+strconv.Itoa(len(all))+" bytes of "+diag.Quote(location))
	}
	return all[offset : offset+size : offset+size], nil
}

// open returns the bytes of a file of the model's folder.
func (f *File) open(location string) ([]byte, *diag.Error) {
	if b, ok := f.external[location]; ok {
		return b, nil
	}
	what := "data are in the file " + diag.Quote(location)
	switch {
	case f.dir == "":
		return nil, diag.New(spec.CodeExternal, what+", and the model was not read from a folder")
	case !filepath.IsLocal(filepath.FromSlash(location)) || strings.Contains(location, `\`):
		return nil, diag.New(spec.CodeExternal, what+", which is not in the model's folder").
			WithHint("external data lie next to the model; export it again")
	}
	mem, err := readExternal(f.dir, filepath.FromSlash(location))
	if err != nil {
		e := diag.New(spec.CodeExternal, what+", which cannot be read")
		var p *fs.PathError // whose path is in the message, quoted
		if errors.As(err, &p) {
			err = p.Err
		}
		e.Err = err
		return nil, e.WithHint("external data lie next to the model; copy all of its files")
	}
	f.mem = append(f.mem, mem)
	f.external[location] = mem.Bytes()
	return mem.Bytes(), nil
}

// readExternal reads a file below a folder; it refuses links that lead out of it.
func readExternal(dir, path string) (*mapfile.Memory, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return mapfile.ReadIn(root, path)
}

func asDiag(err error) *diag.Error {
	var e *diag.Error
	if errors.As(err, &e) {
		return e
	}
	return diag.Bug(err.Error())
}

// ReadTensor reads a file that holds one TensorProto.
func ReadTensor(path string) (*array.Array, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, unreadable(path, err)
	}
	t := &pb.Tensor{}
	if err := pb.Read(data, t); err != nil {
		return nil, asDiag(err).At(diag.Pos{File: path})
	}
	a, bad := ArrayOf(t, nil)
	if bad != nil {
		return nil, bad.At(diag.Pos{File: path})
	}
	return a, nil
}

// Inputs are the inputs that are not initializers.
func (f *File) Inputs() (list []*pb.ValueInfo) {
	initial := InitializerNames(f.Model.Graph)
	for _, v := range f.Model.Graph.Inputs {
		if !initial[v.Name] {
			list = append(list, v)
		}
	}
	return list
}

// ArgNames are the names of the graph's inputs when those that bound names are bound.
func (f *File) ArgNames(lengths map[string]int, bound []string) (names []string) {
	for _, in := range f.Inputs() {
		for _, name := range f.Parts(in.Name, in.Type, lengths) {
			if !slices.Contains(bound, name) {
				names = append(names, name)
			}
		}
	}
	return names
}
