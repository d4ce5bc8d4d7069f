package torchpt

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/internal/mapfile"
	"github.com/gofx-dev/gofx/internal/ziparc"
)

const maxRank = 64

// File is an open file. Its methods may be called from several goroutines at once.
type File struct {
	tensors []*tensor
	names   map[string]*tensor
	mem     *mapfile.Memory // that Open made
}

// Open opens a file, mapped where the system can: the memory is given back by Close, and
// the file must be replaced, not written over, until then. The error is a *diag.Error with
// one of this package's codes, or a diag.List of them: everything that is refused is
// listed. Nothing of a refused file stays mapped.
func Open(path string) (*File, error) {
	mem, err := mapfile.ReadPath(path)
	if err != nil {
		return nil, &diag.Error{Code: CodeRead, Msg: "torch", Err: err}
	}
	f, err := Parse(mem.Bytes())
	switch e := err.(type) {
	case nil:
		f.mem = mem
		return f, nil
	case *diag.Error:
		e.Pos.File = path
	case diag.List:
		for _, e := range e {
			e.Pos.File = path
		}
	}
	return nil, mem.Refuse(err)
}

// Close gives back the memory of a file that Open mapped. The File and arrays that share
// its memory must not be used any more, nor be in use.
func (f *File) Close() error { return f.mem.Close() }

// Parse reads a file in memory, which must not change as long as the File or an array
// from it is in use.
func Parse(b []byte) (*File, error) {
	if !array.LittleEndian() {
		return nil, diag.New(CodeRead, "torch: machine is big-endian, expected a little-endian one")
	}
	f := &File{names: map[string]*tensor{}}
	if IsLegacy(b) {
		if err := f.readLegacy(b); err != nil {
			return nil, err
		}
		return f, nil
	}
	z, err := openArchive(b)
	if err != nil {
		return nil, err
	}
	if err := f.read(z); err != nil {
		return nil, err
	}
	return f, nil
}

// openArchive reads the directory of an archive, of any of the formats, and refuses one whose
// storages have another order of bytes than arrays.
func openArchive(b []byte) (*ziparc.Archive, error) {
	if !bytes.HasPrefix(b, []byte("PK\x03\x04")) {
		return nil, notZip(b)
	}
	z, err := ziparc.Open(b)
	if err != nil {
		return nil, &diag.Error{Code: CodeFormat, Msg: "torch: archive cannot be read", Err: err}
	}
	root, _ := rootOf(z)
	if order := z.Find(root + "byteorder"); order != nil {
		if b, err := order.Bytes(16); err != nil || string(b) != "little" {
			return nil, diag.New(CodeFormat, "torch: byte order is "+quote(string(b))+", expected little").
				WithHint("save it on a little-endian machine")
		}
	}
	return z, nil
}

// notZip says what kind of file a non-archive may be.
func notZip(b []byte) *diag.Error {
	if len(b) > 262 && string(b[257:262]) == "ustar" {
		return diag.New(CodeFormat, "torch: file is a tar archive as the first versions of PyTorch wrote them, expected a newer file of torch.save").
			WithHint("load and save it once more: torch.save(torch.load(f, weights_only=True), f)")
	}
	return diag.New(CodeFormat, "torch: file begins with "+quote(string(b[:min(4, len(b))]))+", expected a file that torch.save writes")
}

// read finds out which kind of archive it is and reads its tensors.
func (f *File) read(z *ziparc.Archive) error {
	root, ok := rootOf(z)
	switch {
	case !ok:
		return diag.New(CodeFormat, "torch: archive has files of several folders, or none, expected one that torch.save writes")
	case z.Find("serialized_exported_program.json") != nil:
		return f.readProgram(z, weightsPart)
	case z.Find(root+"archive_format") != nil:
		return f.readPackage(z, root, weightsPart)
	case z.Find(root+"constants.pkl") != nil:
		return diag.New(CodeFormat, "torch: archive is a TorchScript module, expected a state dict").
			WithHint("save its tensors: torch.save(module.state_dict(), f)")
	}
	pkl := z.Find(root + "data.pkl")
	if pkl == nil {
		return diag.New(CodeFormat, "torch: archive has no data.pkl, expected one that torch.save writes")
	}
	b, err := pkl.Bytes(maxPickle)
	if err != nil {
		return &diag.Error{Code: CodeFormat, Msg: "torch: data.pkl cannot be read", Err: err}
	}
	return f.readPickle(b, members(z, root+"data/"))
}

// rootOf returns the folder in which an archive has everything, with its slash.
func rootOf(z *ziparc.Archive) (string, bool) {
	root := ""
	for i, m := range z.Members {
		at := strings.IndexByte(m.Name, '/')
		if at < 0 {
			return "", true // files of torch.export's first format
		}
		if i == 0 {
			root = m.Name[:at+1]
		} else if !strings.HasPrefix(m.Name, root) {
			return "", false
		}
	}
	return root, root != ""
}

// readPickle runs a pickle and lists the tensors of its value.
func (f *File) readPickle(b []byte, data func(key string) *region) error {
	m := &machine{}
	v := m.run(b)
	if m.err != nil {
		return m.err
	}
	if len(m.refused) > 0 {
		return refusals(m.refused)
	}
	w := &walk{file: f, data: data}
	w.value(v, 0)
	return w.errs.Err()
}

// refusals says of everything that a pickle names and nobody reads why.
func refusals(names []string) (errs diag.List) {
	for _, name := range names {
		errs.Add(diag.New(CodeObject, "torch: file has "+quote(name)+": "+reason(name)).
			WithHint("save tensors alone: torch.save(model.state_dict(), f)"))
	}
	return errs
}

// members are the storages that lie in a folder of an archive.
func members(z *ziparc.Archive, dir string) func(key string) *region {
	return func(key string) *region {
		m := z.Find(dir + key)
		if m == nil {
			return nil
		}
		return &region{size: m.Size, bytes: func() ([]byte, error) { return m.Bytes(array.MaxBytes()) }}
	}
}

// Names returns the names of the tensors in the order of the file.
func (f *File) Names() []string {
	names := make([]string, len(f.tensors))
	for i, t := range f.tensors {
		names[i] = t.name
	}
	return names
}

// Type returns element type and shape of a tensor; ok is false when there is none of
// that name. The element type is Invalid where arrays have none like it; see Format.
func (f *File) Type(name string) (d array.DType, shape []int, ok bool) {
	t := f.names[name]
	if t == nil {
		return array.Invalid, nil, false
	}
	return t.dtype.dtype, slices.Clone(t.shape), true
}

// Format returns the element type of a tensor as PyTorch calls it, "bfloat16" for
// instance, "" when there is no such tensor.
func (f *File) Format(name string) string {
	if t := f.names[name]; t != nil {
		return t.dtype.name
	}
	return ""
}

// Get returns a tensor, contiguous. It shares the file's memory where its elements lie
// there in order and aligned, as torch.save writes them; tensors of one storage share it.
// The storage's checksum is compared. The error is a *diag.Error: CodeName, CodeTensor,
// CodeFormat, or array.CodeTooLarge beyond array.MaxBytes.
func (f *File) Get(name string) (*array.Array, error) {
	if f.mem.Closed() {
		return nil, diag.New(CodeRead, "torch: the file was closed, expected an open one")
	}
	t := f.names[name]
	if t == nil {
		return nil, diag.New(CodeName, "torch: no tensor "+quote(name)+" among "+strconv.Itoa(len(f.tensors))+", expected one of that name")
	}
	if err := t.readable(); err != nil {
		return nil, err
	}
	return t.array()
}

// quote quotes hostile text for messages, shortened.
func quote(s string) string {
	if len(s) > 96 {
		s = s[:96] + "..."
	}
	return diag.Quote(s)
}
