package torchpt

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/internal/ziparc"
)

const maxConfig = 32 << 20 // bytes of a package's description of its weights

// nested reads a file of torch.save that is a member of another archive.
func (f *File) nested(m *ziparc.Member) error {
	b, err := m.Bytes(m.Size)
	if err != nil {
		return &diag.Error{Code: CodeFormat, Msg: "torch: member " + quote(m.Name) + " cannot be read", Err: err}
	}
	in, err := Parse(b)
	if err != nil {
		return err
	}
	for _, t := range in.tensors {
		f.add(t)
	}
	return nil
}

// part is the part that is read of an archive of torch.export.
type part struct {
	what   string
	folder string // of packages, under data
	suffix string // of the description in it
	old    string // the member of archives before packages, without its ending
}

var (
	weightsPart   = part{"weights", "weights/", "_weights_config.json", "serialized_state_dict"}
	constantsPart = part{"constants", "constants/", "_constants_config.json", "serialized_constants"}
)

// ParseConstants reads the constants of a program of torch.export (.pt2) in memory: tensors that are
// no state, such as those that the model's code makes of numbers, and buffers that are not persistent.
// Parse reads the state. The memory must not change as long as the File or an array from it is in use.
func ParseConstants(b []byte) (*File, error) {
	z, err := openArchive(b)
	if err != nil {
		return nil, err
	}
	f := &File{names: map[string]*tensor{}}
	root, ok := rootOf(z)
	switch {
	case z.Find("serialized_exported_program.json") != nil:
		return f, f.readProgram(z, constantsPart)
	case ok && z.Find(root+"archive_format") != nil:
		return f, f.readPackage(z, root, constantsPart)
	}
	return nil, diag.New(CodeFormat, "torch: archive is no program, expected one that torch.export.save writes")
}

// readProgram reads the tensors of a program that torch.export.save wrote in
// PyTorch 2.1 to 2.7: a member that torch.save made.
func (f *File) readProgram(z *ziparc.Archive, p part) error {
	for _, ending := range []string{".pt", ".json"} {
		if m := z.Find(p.old + ending); m != nil {
			return f.nested(m)
		}
	}
	if p == constantsPart {
		return nil // the first writers had none
	}
	return diag.New(CodeFormat, "torch: program of torch.export has no "+p.old+".pt, expected one")
}

// readPackage reads the tensors of a package as torch.export.save writes it since
// PyTorch 2.8: a file for each storage, and a description of the tensors in them.
func (f *File) readPackage(z *ziparc.Archive, root string, p part) error {
	dir := root + "data/" + p.folder
	if b, err := z.Find(root + "archive_format").Bytes(16); err != nil || string(b) != "pt2" {
		return diag.New(CodeFormat, "torch: archive_format is "+quote(string(b))+", expected pt2")
	}
	var models []string
	for _, m := range z.Members {
		name, ok := strings.CutPrefix(m.Name, dir)
		if ok && (strings.HasSuffix(name, p.suffix) || strings.HasSuffix(name, ".pt")) {
			models = append(models, m.Name)
		}
	}
	if len(models) != 1 {
		if p == constantsPart && len(models) == 0 {
			return nil
		}
		return diag.New(CodeFormat, "torch: package has the "+p.what+" of "+digits(int64(len(models)))+" models, expected one")
	}
	m := z.Find(models[0])
	if strings.HasSuffix(m.Name, ".pt") { // the first packages
		return f.nested(m)
	}
	b, err := m.Bytes(maxConfig)
	if err != nil {
		return &diag.Error{Code: CodeFormat, Msg: "torch: member " + quote(m.Name) + " cannot be read", Err: err}
	}
	list, err := payloads(b)
	if err != nil {
		return &diag.Error{Code: CodeFormat, Msg: "torch: member " + quote(m.Name) + " is malformed", Err: err}
	}
	w := &walk{file: f, data: members(z, dir)}
	for _, t := range list {
		if !w.off {
			w.payload(t)
		}
	}
	return w.errs.Err()
}

// payload is a tensor of a package: PayloadMeta of torch.export's schema, as far as it
// says where elements are.
type payload struct {
	name string
	Path string `json:"path_name"`
	// Pickled is set for subclasses of tensors.
	Pickled bool `json:"use_pickle"`
	Meta    *struct {
		DType   int   `json:"dtype"`
		Sizes   []num `json:"sizes"`
		Strides []num `json:"strides"`
		Offset  num   `json:"storage_offset"`
		Layout  int   `json:"layout"`
	} `json:"tensor_meta"`
}

// num is a size that is known.
type num struct {
	Int *int64 `json:"as_int"`
}

// strided is the number of the layout that tensors have which are not sparse.
const stridedLayout = 7

// payloads reads {"config": {name: payload}}, in the order of the names.
func payloads(b []byte) ([]payload, error) {
	var doc struct {
		Config json.RawMessage `json:"config"`
	}
	if err := json.Unmarshal(b, &doc); err != nil {
		return nil, err
	}
	d := json.NewDecoder(bytes.NewReader(doc.Config))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, diag.New(CodeFormat, "config is no object")
	}
	var all []payload
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return nil, err
		}
		var p payload
		if err := d.Decode(&p); err != nil {
			return nil, err
		}
		p.name = key.(string)
		all = append(all, p)
	}
	return all, nil
}

// payload enters a tensor of a package.
func (w *walk) payload(p payload) {
	if p.Pickled || p.Meta == nil || p.Meta.Layout != stridedLayout {
		w.fail(CodeObject, "tensor "+quote(p.name)+" is pickled or sparse, expected the bytes of a storage")
		return
	}
	d := find(func(d *dtype) bool { return d.scalar == p.Meta.DType && d.scalar != 0 })
	if d == nil {
		w.fail(CodeTensor, "tensor "+quote(p.name)+" has element type "+digits(int64(p.Meta.DType))+" of torch.export, expected a known one")
		return
	}
	s := &strided{dtype: d, storage: &storage{key: p.Path}}
	ok := p.Meta.Offset.Int != nil && len(p.Meta.Sizes) <= maxRank && len(p.Meta.Strides) <= maxRank
	if ok {
		s.offset = *p.Meta.Offset.Int
	}
	for _, l := range []struct {
		to   *[]int64
		from []num
	}{{&s.shape, p.Meta.Sizes}, {&s.stride, p.Meta.Strides}} {
		for _, n := range l.from {
			if n.Int == nil {
				ok = false
				break
			}
			*l.to = append(*l.to, *n.Int)
		}
	}
	if !ok {
		w.fail(CodeTensor, "tensor "+quote(p.name)+" has sizes, strides or a place that are no numbers, expected numbers")
		return
	}
	w.tensor(p.name, s)
}
