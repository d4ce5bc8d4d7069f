package pack

import (
	"bytes"
	"compress/flate"
	"crypto/sha256"
	"encoding/binary"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/gofx-dev/gofx/diag"
)

// Pack is a set of images. The zero value is an empty one. Looking up is safe for many
// goroutines, adding is not.
type Pack struct {
	images map[key][]byte // deflated
}

type key [sha256.Size]byte

// magic begins the form in which packs are stored; the digit is its version. After it come the
// images, ordered by their keys: key, length, deflated bytes. A sum of all ends it.
const magic = "gofx pack 1\n"

// Limits of what is read: a pack comes from outside.
const (
	mostImage = 64 << 20
	head      = sha256.Size + 4
)

// keyOf is the key of a source: comments before the first line of code, which say what a program
// is for and not what it is, are no part of it.
func keyOf(source string) key {
	for strings.HasPrefix(source, "//") || strings.HasPrefix(source, "\n") {
		_, source, _ = strings.Cut(source, "\n")
	}
	return sha256.Sum256([]byte(source))
}

// Len returns how many images there are.
func (p *Pack) Len() int {
	if p == nil {
		return 0
	}
	return len(p.images)
}

// Has reports whether there is an image of a source.
func (p *Pack) Has(source string) bool { return p != nil && p.images[keyOf(source)] != nil }

// Add puts in the image of a source, in place of one that is there.
func (p *Pack) Add(source string, image []byte) {
	if p.images == nil {
		p.images = map[key][]byte{}
	}
	var b bytes.Buffer
	w, _ := flate.NewWriter(&b, flate.BestCompression) // the level is one
	_, _ = w.Write(image)                              // to memory
	_ = w.Close()
	p.images[keyOf(source)] = b.Bytes()
}

// Find returns the image of a source, nil where there is none.
func (p *Pack) Find(source string) []byte {
	if p == nil {
		return nil
	}
	packed := p.images[keyOf(source)]
	if packed == nil {
		return nil
	}
	image, err := io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(packed)), mostImage+1))
	if err != nil || len(image) > mostImage {
		return nil // the sum was right, so that whoever wrote the pack put it in so
	}
	return image
}

// Bytes returns the pack as Read takes it; equal packs give equal bytes.
func (p *Pack) Bytes() []byte {
	var keys []key
	if p != nil {
		for k := range p.images {
			keys = append(keys, k)
		}
	}
	slices.SortFunc(keys, func(x, y key) int { return bytes.Compare(x[:], y[:]) })
	out := []byte(magic)
	for _, k := range keys {
		out = append(out, k[:]...)
		out = binary.LittleEndian.AppendUint32(out, uint32(len(p.images[k])))
		out = append(out, p.images[k]...)
	}
	sum := sha256.Sum256(out)
	return append(out, sum[:]...)
}

// Read returns the pack that Bytes wrote. The error has the code BadPack.
func Read(data []byte) (*Pack, error) {
	if !bytes.HasPrefix(data, []byte(magic)) {
		return nil, bad("it does not begin as a pack of this version")
	}
	if len(data) < len(magic)+sha256.Size {
		return nil, bad("it ends after " + strconv.Itoa(len(data)) + " bytes")
	}
	body, sum := data[:len(data)-sha256.Size], data[len(data)-sha256.Size:]
	if is := sha256.Sum256(body); !bytes.Equal(is[:], sum) {
		return nil, bad("its sum is not that of its contents")
	}
	p := &Pack{images: map[key][]byte{}}
	for rest := body[len(magic):]; len(rest) > 0; {
		if len(rest) < head {
			return nil, bad("its last image has no head")
		}
		n := int64(binary.LittleEndian.Uint32(rest[sha256.Size:]))
		if n > int64(len(rest)-head) {
			return nil, bad("an image is longer than the pack")
		}
		p.images[key(rest)] = rest[head : head+int(n) : head+int(n)]
		rest = rest[head+int(n):]
	}
	return p, nil
}

func bad(why string) *diag.Error {
	return diag.New(BadPack, "the pack of kernels cannot be read: "+why).WithHint("write it again with this version of gofx")
}
