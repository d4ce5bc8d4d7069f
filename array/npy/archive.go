package npy

import (
	"archive/zip"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/internal/mapfile"
	"github.com/gofx-dev/gofx/internal/swap"
	"github.com/gofx-dev/gofx/internal/ziparc"
)

// suffix ends the names of an archive's members; arrays are called without it.
const suffix = ".npy"

// Archive is an open .npz file. Its methods may be called from several goroutines at
// once.
type Archive struct {
	arrays []*member
	byName map[string]*member
	mem    *mapfile.Memory // that OpenArchive made
}

// member is an array of an archive.
type member struct {
	name   string
	file   *ziparc.Member
	header *header
	err    *diag.Error // of the header: the array is refused when it is read
}

// OpenArchive opens a .npz file as numpy.savez and numpy.savez_compressed write it, and
// reads the headers of its arrays. The file is mapped where the system can, until it is
// closed; nothing of a refused one stays mapped. The error is a *diag.Error with CodeRead
// or CodeArchive, or a diag.List of them.
func OpenArchive(path string) (*Archive, error) {
	mem, err := mapfile.ReadPath(path)
	if err != nil {
		return nil, unreadable("npz", err)
	}
	a, err := ParseArchive(mem.Bytes())
	if err != nil {
		if e, ok := err.(*diag.Error); ok {
			e.Pos.File = path
		}
		return nil, mem.Refuse(err)
	}
	a.mem = mem
	return a, nil
}

// Close gives back the memory of a file that OpenArchive mapped. The Archive must not be
// used any more, nor be in use; arrays that Get returned stay.
func (a *Archive) Close() error { return a.mem.Close() }

// ParseArchive is OpenArchive for an archive in memory, which must not change while the
// archive is in use.
func ParseArchive(b []byte) (*Archive, error) {
	z, err := ziparc.Open(b)
	if err != nil {
		return nil, &diag.Error{Code: CodeArchive, Msg: "npz: archive cannot be read", Err: err}
	}
	a := &Archive{byName: map[string]*member{}}
	for _, f := range z.Members {
		name, ok := strings.CutSuffix(f.Name, suffix)
		if !ok {
			return nil, diag.New(CodeArchive, "npz: member "+quote(f.Name)+" is no array, expected a name that ends in "+suffix)
		}
		m := &member{name: name, file: f}
		m.readHeader()
		a.arrays = append(a.arrays, m)
		a.byName[name] = m
	}
	return a, nil
}

// readHeader reads the member's header, or returns its error.
func (m *member) readHeader() {
	r, err := m.file.Open()
	if err == nil {
		defer r.Close()
		m.header, err = readHeader(r)
	}
	if err != nil {
		m.err = m.fault(err)
	}
}

// fault says which array an error is about.
func (m *member) fault(err error) *diag.Error {
	in := "npz: array " + quote(m.name)
	e, ok := err.(*diag.Error)
	if !ok {
		return &diag.Error{Code: CodeArchive, Msg: in + " cannot be unpacked", Err: err}
	}
	c := *e
	c.Msg = in + ": " + strings.TrimPrefix(c.Msg, "npy: ")
	return &c
}

// Names returns the names of the arrays in the order of the file, without ".npy".
func (a *Archive) Names() []string {
	names := make([]string, len(a.arrays))
	for i, m := range a.arrays {
		names[i] = m.name
	}
	return names
}

// Type returns element type and shape of an array; ok is false when there is none of
// that name. The element type is Invalid where Get has an error.
func (a *Archive) Type(name string) (d array.DType, shape []int, ok bool) {
	m := a.byName[name]
	if m == nil {
		return array.Invalid, nil, false
	}
	if m.err != nil {
		return array.Invalid, []int{}, true
	}
	return m.header.dtype, slices.Clone(m.header.shape), true
}

// Get reads an array. The error is a *diag.Error with one of this package's codes.
func (a *Archive) Get(name string) (*array.Array, error) {
	if a.mem.Closed() {
		return nil, diag.New(CodeRead, "npz: the file was closed, expected an open one")
	}
	m := a.byName[name]
	if m == nil {
		return nil, diag.New(CodeName, "npz: no array "+quote(name)+" among "+strconv.Itoa(len(a.arrays))+", expected one of that name")
	}
	if m.err != nil {
		return nil, m.err
	}
	r, err := m.file.Open()
	if err != nil {
		return nil, m.fault(err)
	}
	defer r.Close()
	x, err := Read(r, m.file.Size)
	if err != nil {
		return nil, m.fault(err)
	}
	// The end is read too: there the checksum is compared.
	switch n, err := r.Read(make([]byte, 1)); {
	case n > 0:
		return nil, m.fault(diag.New(CodeHeader, "bytes follow the array, expected the end of the member"))
	case err != io.EOF:
		return nil, m.fault(err)
	}
	return x, nil
}

// Named is an array and its name in an archive.
type Named struct {
	Name  string
	Array *array.Array
}

// WriteArchive writes a .npz file as numpy.savez does, or numpy.savez_compressed where
// deflate is set. Equal arguments give equal bytes. The error is a *diag.Error with
// CodeWrite for names that repeat and for arrays that Write refuses, or w's error.
func WriteArchive(w io.Writer, arrays []Named, deflate bool) error {
	z := zip.NewWriter(w)
	seen := map[string]bool{}
	for _, x := range arrays {
		if seen[x.Name] {
			return diag.New(CodeWrite, "npz: name "+quote(x.Name)+" repeats, expected a name of its own")
		}
		seen[x.Name] = true
		h := &zip.FileHeader{Name: x.Name + suffix, Method: zip.Store}
		if deflate {
			h.Method = zip.Deflate
		}
		f, err := z.CreateHeader(h)
		if err == nil {
			err = Write(f, x.Array)
		}
		if err != nil {
			return err
		}
	}
	return z.Close()
}

// WriteArchiveFile is WriteArchive into a file, all of it or nothing.
func WriteArchiveFile(path string, arrays []Named, deflate bool) error {
	return swap.Write(path, unfinished, func(w io.Writer) error { return WriteArchive(w, arrays, deflate) })
}
