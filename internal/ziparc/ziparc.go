package ziparc

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"slices"
	"strconv"
)

// A member that is unpacked may have leastLimit bytes, or mostRatio times its packed
// size: so a small archive cannot fill the memory.
const (
	leastLimit = 256 << 20
	mostRatio  = 100
)

// Archive is an open archive.
type Archive struct {
	Members []*Member // in the order of the directory, without folders
	byName  map[string]*Member
}

// Member is a file of an archive.
type Member struct {
	Name   string
	Size   int64 // unpacked
	file   *zip.File
	stored []byte // content of a stored member, nil for others
}

// Open reads the directory of an archive. Errors are plain ones, for callers to wrap.
func Open(data []byte) (*Archive, error) {
	r, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, err
	}
	a := &Archive{byName: map[string]*Member{}}
	var spans [][2]int64
	for _, f := range r.File {
		m, span, err := member(f, data)
		if err != nil {
			return nil, fmt.Errorf("member %s: %w", quote(f.Name), err)
		}
		if f.FileInfo().IsDir() && m.Size == 0 {
			continue
		}
		if a.byName[f.Name] != nil {
			return nil, fmt.Errorf("member %s occurs twice", quote(f.Name))
		}
		a.byName[f.Name] = m
		a.Members = append(a.Members, m)
		spans = append(spans, span)
	}
	slices.SortFunc(spans, func(a, b [2]int64) int {
		if a[0] != b[0] {
			return int(min(max(a[0]-b[0], -1), 1))
		}
		return int(min(max(a[1]-b[1], -1), 1))
	})
	for i := 1; i < len(spans); i++ {
		if spans[i][0] < spans[i-1][1] {
			return nil, fmt.Errorf("members overlap at byte %d", spans[i][0])
		}
	}
	return a, nil
}

func member(f *zip.File, data []byte) (*Member, [2]int64, error) {
	var none [2]int64
	at, err := f.DataOffset()
	if err != nil {
		return nil, none, err
	}
	size, end := int64(f.UncompressedSize64), at+int64(f.CompressedSize64)
	if size < 0 || end < at || end > int64(len(data)) {
		return nil, none, errors.New("it ends after the archive")
	}
	if f.Flags&1 != 0 {
		return nil, none, errors.New("it is encrypted")
	}
	m := &Member{Name: f.Name, Size: size, file: f}
	switch f.Method {
	case zip.Store:
		if size != end-at {
			return nil, none, errors.New("it is stored, and has two sizes")
		}
		m.stored = data[at:end:end]
	case zip.Deflate:
		if most := max(leastLimit, mostRatio*(end-at)); size > most {
			return nil, none, errors.New("it unpacks to " + strconv.FormatInt(size, 10) + " bytes, more than " + strconv.FormatInt(most, 10))
		}
	default:
		return nil, none, fmt.Errorf("it is packed by method %d, not stored or deflated", f.Method)
	}
	return m, [2]int64{at, end}, nil
}

// Find returns the member of a name, nil when there is none.
func (a *Archive) Find(name string) *Member { return a.byName[name] }

// Stored returns the bytes of a stored member as they lie in the archive, once its
// checksum has been compared; ok is false for members that are packed.
func (m *Member) Stored() (b []byte, ok bool, err error) {
	if m.stored == nil {
		return nil, false, nil
	}
	if crc32.ChecksumIEEE(m.stored) != m.file.CRC32 {
		return nil, true, zip.ErrChecksum
	}
	return m.stored, true, nil
}

// Open returns a reader of the member's content, which compares the checksum at its
// end.
func (m *Member) Open() (io.ReadCloser, error) { return m.file.Open() }

// Bytes returns the member's content, at most limit bytes: of a stored one the bytes
// of the archive.
func (m *Member) Bytes(limit int64) ([]byte, error) {
	if m.Size > limit {
		return nil, fmt.Errorf("it has %d bytes, more than %d", m.Size, limit)
	}
	if b, ok, err := m.Stored(); ok {
		return b, err
	}
	r, err := m.Open()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return io.ReadAll(r)
}

// quote quotes hostile text for messages, shortened.
func quote(s string) string {
	if len(s) > 64 {
		s = s[:64] + "..."
	}
	return strconv.QuoteToASCII(s)
}
