package safetensors

import (
	"hash/crc32"
	"strconv"
	"strings"
)

// sumPrefix begins the metadata keys of checksums; the tensor's name follows.
const sumPrefix = "crc32c."

// castagnoli is the polynomial that processors have an instruction for.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Checksums returns metadata for Write with the CRC-32C (Castagnoli; RFC 3720,
// appendix B.4) of each tensor's bytes in the file: key "crc32c." and the name, value eight
// hexadecimal digits. Readers of a file with such metadata refuse tensors that
// have another checksum or none.
func Checksums(tensors []Named) map[string]string {
	meta := make(map[string]string, len(tensors))
	for _, t := range tensors {
		meta[sumPrefix+t.Name] = sumText(crc32.Checksum(t.data(), castagnoli))
	}
	return meta
}

func sumText(sum uint32) string {
	digits := strconv.FormatUint(uint64(sum), 16)
	return "00000000"[len(digits):] + digits
}

// readSums enters the checksums of the metadata. One that is not well formed is a
// checksum that no data has, so that only its tensor is refused.
func (f *File) readSums() {
	if f.metaAt == 0 {
		return
	}
	p := newScanner(f.header, f.metaAt)
	p.object(func(key string, _ int) {
		text := p.str()
		name, ok := strings.CutPrefix(key, sumPrefix)
		if !ok {
			return
		}
		f.summed = true
		if e, ok := f.find(name); ok {
			sum, ok := parseHex(text)
			e.sum, e.hasSum = sum, ok && text == sumText(sum)
		}
	})
}

// check compares a tensor's bytes with its checksum, when the file has any.
func (f *File) check(e *entry, data []byte) error {
	if !f.summed {
		return nil
	}
	got := "has no readable checksum"
	if e.hasSum {
		sum := crc32.Checksum(data, castagnoli)
		if sum == e.sum {
			return nil
		}
		got = "has checksum " + sumText(sum) + ", expected " + sumText(e.sum)
	}
	return fault(CodeChecksum, f.start+e.begin, "tensor "+quote(e.name)+" "+got).
		WithHint("the file was damaged; write or copy it again")
}
