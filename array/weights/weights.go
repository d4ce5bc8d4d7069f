package weights

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/array/gguf"
	"github.com/gofx-dev/gofx/array/npy"
	"github.com/gofx-dev/gofx/array/safetensors"
	"github.com/gofx-dev/gofx/array/torchpt"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/internal/mapfile"
)

// File is an open file of weights; it is an nn.Weights. Its methods may be called from
// several goroutines at once.
type File interface {
	// Names returns the names of the tensors in the order of the file. The array of a .npy
	// file, and a tensor that was saved alone by torch.save, have the name "".
	Names() []string
	// Type returns element type and shape without reading the data; ok is false when there
	// is no such tensor. The element type is Invalid where Get refuses.
	Type(name string) (d array.DType, shape []int, ok bool)
	// Format returns the element type as the file's format calls it, "Q4_K" for instance,
	// "" when there is no such tensor.
	Format(name string) string
	// Get reads a tensor, contiguous. It may share the file's memory.
	Get(name string) (*array.Array, error)
	// Close gives the file's memory back, once: a process cannot have more than some 65,000
	// files mapped. Nothing may use the File any more, and no array that Get returned may be
	// in use or be used: copy arrays that must stay (array.Clone). A file that is never
	// closed is mapped as long as the program runs.
	Close() error
}

// extensions are the endings of names of files that Open reads.
var extensions = []string{".safetensors", ".npy", ".npz", ".gguf", ".pt", ".pth", ".bin", ".pt2", ".index.json"}

// IsFile reports whether a path ends as the names of files of weights do.
func IsFile(path string) bool {
	for _, ext := range extensions {
		if strings.HasSuffix(path, ext) {
			return true
		}
	}
	return false
}

// Open opens a file by its contents: safetensors, an index of shards
// (model.safetensors.index.json, whose shards must be in the same folder), .npy, .npz, GGUF, and
// files of torch.save and archives of torch.export. FILE#NAME selects the tensors of FILE whose
// names begin with NAME and a dot, and removes that prefix: for a model in a checkpoint of several
// objects. The file is mapped where the system can: Close gives the memory back, and the file must
// be replaced, not written over, until then. Nothing of a refused file stays mapped. The error is
// a *diag.Error or a diag.List with codes of this package or of the format's.
func Open(path string) (File, error) {
	if file, part := Split(path); part != "" {
		f, err := Open(file)
		if err != nil {
			return nil, err
		}
		s, err := Sub(f, part)
		if err != nil {
			_ = f.Close() // the name is at fault
			return nil, err
		}
		return s, nil
	}
	mem, err := mapfile.ReadPath(path)
	if err != nil {
		return nil, &diag.Error{Code: CodeRead, Msg: "weights", Err: err}
	}
	var f File
	if isIndex(mem.Bytes(), path) {
		f, err = openIndex(mem.Bytes(), path)
		_ = mem.Close() // the shards have all that is wanted
	} else {
		f, err = open(mem, path)
	}
	if err != nil {
		return nil, inFile(err, path)
	}
	return f, nil
}

// open reads a file of any format but an index, and closes the memory of one that it
// refuses.
func open(mem *mapfile.Memory, name string) (File, error) {
	f, err := parse(mem.Bytes(), name)
	if err != nil {
		return nil, mem.Refuse(err)
	}
	return &opened{content: f, mem: mem}, nil
}

// content is a File without its memory.
type content interface {
	Names() []string
	Type(name string) (array.DType, []int, bool)
	Format(name string) string
	Get(name string) (*array.Array, error)
}

// opened is a file with its memory, which nothing touches once it is closed.
type opened struct {
	content
	mem *mapfile.Memory
}

// Names implements File. The names of some formats lie in the memory.
func (f *opened) Names() []string {
	if f.mem.Closed() {
		return nil
	}
	names := f.content.Names()
	for i, name := range names {
		names[i] = strings.Clone(name)
	}
	return names
}

func (f *opened) Type(name string) (array.DType, []int, bool) {
	if f.mem.Closed() {
		return array.Invalid, nil, false
	}
	return f.content.Type(name)
}

func (f *opened) Format(name string) string {
	if f.mem.Closed() {
		return ""
	}
	return strings.Clone(f.content.Format(name))
}

func (f *opened) Get(name string) (*array.Array, error) {
	if f.mem.Closed() {
		return nil, diag.New(CodeRead, "weights: the file was closed, expected an open one").
			WithHint("close it after the last Get, and copy what is to stay: array.Clone")
	}
	return f.content.Get(name)
}

func (f *opened) Close() error { return f.mem.Close() }

// Split takes FILE#NAME apart, as Open reads it: part is "" where path is a file as it
// is, or has no #.
func Split(path string) (file, part string) {
	at := strings.LastIndexByte(path, '#')
	if at < 0 {
		return path, ""
	}
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		return path, ""
	}
	return path[:at], path[at+1:]
}

// inFile says in which file a mistake is, where that is not said.
func inFile(err error, path string) error {
	switch e := err.(type) {
	case *diag.Error:
		if e.Pos.File == "" {
			e.Pos.File = path
		}
	case diag.List:
		for _, e := range e {
			_ = inFile(e, path)
		}
	}
	return err
}

// parse reads a file of any format but an index. Where the contents do not tell, the
// ending of the name decides which format reports the error.
func parse(b []byte, path string) (content, error) {
	switch kindOf(b, filepath.Ext(path)) {
	case ".gguf":
		return parseGGUF(b)
	case ".npy":
		return parseNPY(b)
	case ".npz":
		a, err := npy.ParseArchive(b)
		if err != nil {
			return nil, err
		}
		return archive{a}, nil
	case ".pt":
		f, err := torchpt.Parse(b)
		if err != nil {
			return nil, err
		}
		return f, nil
	case ".safetensors":
		f, err := safetensors.Parse(b)
		if err != nil {
			return nil, err
		}
		return tensors{f}, nil
	}
	return nil, diag.New(CodeFormat, "weights: file begins with "+diag.Quote(string(b[:min(8, len(b))]))+", expected safetensors, an index of shards, npy, npz, GGUF or a file of torch.save").
		WithHint("convert it to safetensors; onnx.OpenWeights reads the initializers of a .onnx file")
}

// kindOf returns the usual ending of files with such contents, else what the ending of
// the name says.
func kindOf(b []byte, ext string) string {
	switch {
	case bytes.HasPrefix(b, []byte("GGUF")):
		return ".gguf"
	case bytes.HasPrefix(b, []byte("\x93NUMPY")):
		return ".npy"
	case isZip(b) && (ext == ".npz" || holdsNPY(b)):
		return ".npz"
	case isZip(b) || torchpt.IsLegacy(b):
		return ".pt"
	case isSafetensors(b):
		return ".safetensors"
	case ext == ".pth" || ext == ".pt2":
		return ".pt"
	}
	return ext
}

func isZip(b []byte) bool {
	return bytes.HasPrefix(b, []byte("PK\x03\x04")) || bytes.HasPrefix(b, []byte("PK\x05\x06"))
}

// holdsNPY reports whether the first member of an archive is an array.
func holdsNPY(b []byte) bool {
	const nameLen, name = 26, 30
	if len(b) < name {
		return false
	}
	n := int(binary.LittleEndian.Uint16(b[nameLen:]))
	return len(b) >= name+n && bytes.HasSuffix(b[name:name+n], []byte(".npy"))
}

// isSafetensors reports whether a length stands in front of a JSON object.
func isSafetensors(b []byte) bool {
	return len(b) > 8 && b[8] == '{' && binary.LittleEndian.Uint64(b) <= safetensors.MaxHeader
}

func parseGGUF(b []byte) (content, error) {
	f, err := gguf.Parse(b)
	if err != nil {
		return nil, err
	}
	if n, ok := f.Value("split.count"); ok && n != uint16(0) && n != uint16(1) {
		return nil, diag.New(CodeFormat, "weights: file is one part of several of a GGUF model, expected all of it").
			WithHint("merge the parts: llama-gguf-split --merge FIRST-PART OUT.gguf")
	}
	return f, nil
}

func parseNPY(b []byte) (content, error) {
	r := bytes.NewReader(b)
	a, err := npy.Read(r, int64(len(b)))
	if err == nil && r.Len() > 0 {
		err = diag.New(npy.CodeHeader, "npy: bytes follow the array, expected the end of the file")
	}
	if err != nil {
		return nil, err
	}
	return single{a}, nil
}

// tensors is a safetensors file.
type tensors struct{ *safetensors.File }

func (f tensors) Type(name string) (array.DType, []int, bool) {
	d, shape, _, _, ok := f.Info(name)
	return d, shape, ok
}

// archive is a .npz file.
type archive struct{ *npy.Archive }

func (f archive) Format(name string) string { return formatOf(f, name) }

// formatOf is the name that arrays have for the element type.
func formatOf(f content, name string) string {
	d, _, ok := f.Type(name)
	if !ok {
		return ""
	}
	return d.String()
}

// single is one array without a name.
type single struct{ a *array.Array }

func (f single) Names() []string           { return []string{""} }
func (f single) Format(name string) string { return formatOf(f, name) }

func (f single) Type(name string) (array.DType, []int, bool) {
	if name != "" {
		return array.Invalid, nil, false
	}
	return f.a.DType(), append([]int{}, f.a.Shape()...), true
}

func (f single) Get(name string) (*array.Array, error) {
	if name != "" {
		return nil, missing(name)
	}
	return f.a, nil
}

func missing(name string) error {
	return diag.New(CodeName, "weights: no tensor "+quote(name)+", expected one that the file has")
}

// Sub returns the tensors whose names begin with prefix and a dot, without it. The error
// is a *diag.Error with CodeName when there is none.
func Sub(f File, prefix string) (File, error) {
	s := sub{File: f, prefix: prefix + "."}
	if len(s.Names()) > 0 {
		return s, nil
	}
	var first []string
	seen := map[string]bool{}
	for _, name := range f.Names() {
		if head, _, ok := strings.Cut(name, "."); ok && !seen[head] && len(first) < 10 {
			seen[head] = true
			first = append(first, quote(head))
		}
	}
	return nil, diag.New(CodeName, "weights: no tensor's name begins with "+quote(s.prefix)+", expected one of "+strings.Join(first, ", "))
}

type sub struct {
	File
	prefix string
}

func (s sub) Names() []string {
	var names []string
	for _, name := range s.File.Names() {
		if rest, ok := strings.CutPrefix(name, s.prefix); ok {
			names = append(names, rest)
		}
	}
	return names
}

func (s sub) Type(name string) (array.DType, []int, bool) { return s.File.Type(s.prefix + name) }
func (s sub) Format(name string) string                   { return s.File.Format(s.prefix + name) }
func (s sub) Get(name string) (*array.Array, error)       { return s.File.Get(s.prefix + name) }

// quote quotes hostile text for messages, shortened.
func quote(s string) string {
	if len(s) > 96 {
		s = s[:96] + "..."
	}
	return diag.Quote(s)
}
