package lowering

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Folder keeps what drivers and compilers made, by key, for later processes; "" keeps
// nothing. A file that is damaged, or cannot be read or written, is as if it were not there:
// it costs the time of making it again. It holds MaxFolder bytes, the files that were used
// longest ago go first; other files that lie there are neither counted nor touched. A folder
// that is another user's, or that others can write to, keeps nothing: what is loaded runs.
type Folder string

// MaxFolder is how many bytes a Folder holds.
const MaxFolder = 1 << 30

// UserFolder returns the folder of a target: path, or where that is empty gofx/target in the
// user's cache folder; none for "-".
func UserFolder(target, path string) Folder {
	switch path {
	case "-":
		return ""
	case "":
		base, err := os.UserCacheDir()
		if err != nil {
			return ""
		}
		return Folder(filepath.Join(base, "gofx", target))
	}
	return Folder(path)
}

// Key makes a key of what a thing follows from.
func Key(parts ...string) string {
	h := sha256.New()
	for _, s := range parts {
		sum := sha256.Sum256([]byte(s))
		_, _ = h.Write(sum[:]) // never fails
	}
	return hex.EncodeToString(h.Sum(nil))
}

// The names of files: a key as Key makes them, and one of these endings.
const (
	whole = ".bin"
	begun = ".new"
)

// stem is how the names of a key's files begin; of what Key has not made, it makes one.
func stem(key string) string {
	if !isKey(key) {
		return Key(key)
	}
	return key
}

func isKey(s string) bool {
	const digits = "0123456789abcdef"
	return len(s) == hex.EncodedLen(sha256.Size) && strings.Trim(s, digits) == ""
}

func (f Folder) file(key string) string { return filepath.Join(string(f), stem(key)+whole) }

// Load returns what is kept for a key, nil where there is nothing.
func (f Folder) Load(key string) []byte {
	if f == "" || !f.trusted() {
		return nil
	}
	secret := f.secret(false)
	if s, err := os.Stat(f.file(key)); secret == nil || err != nil || !readable(s) {
		return nil // reading a pipe would wait, and Save keeps nothing that large
	}
	data, err := os.ReadFile(f.file(key))
	if err != nil || len(data) < sha256.Size {
		return nil
	}
	if !hmac.Equal(sumOf(secret, key, data[sha256.Size:]), data[:sha256.Size]) {
		return nil
	}
	now := time.Now()
	_ = os.Chtimes(f.file(key), now, now) // it goes earlier, no more
	return data[sha256.Size:]
}

// Save keeps data for a key, as a whole or not at all.
func (f Folder) Save(key string, data []byte) {
	if tmp := f.begin(key, data); tmp != "" {
		f.end(tmp, key)
	}
}

// Offer keeps data for a key unless something good is kept for it already, and returns what is kept: of
// programs that offer at once all get the same. Where nothing can be kept it returns data.
func (f Folder) Offer(key string, data []byte, good func([]byte) bool) []byte {
	tmp := f.begin(key, data)
	if tmp == "" {
		return data
	}
	if os.Link(tmp, f.file(key)) == nil {
		_ = os.Remove(tmp) // the other name of what is kept now
		f.trim(MaxFolder)
		return data
	}
	if kept := f.Load(key); kept != nil && good(kept) {
		_ = os.Remove(tmp) // not needed
		return kept
	}
	f.end(tmp, key)
	return data
}

// begin writes an entry under a name of its own, "" where that fails.
func (f Folder) begin(key string, data []byte) string {
	const folderMode = 0o700
	if f == "" || len(data) == 0 || len(data) > MaxFolder-sha256.Size || os.MkdirAll(string(f), folderMode) != nil || !f.trusted() {
		return ""
	}
	secret := f.secret(true)
	if secret == nil {
		return ""
	}
	tmp, err := os.CreateTemp(string(f), stem(key)+"-*"+begun)
	if err != nil {
		return ""
	}
	if _, err = tmp.Write(sumOf(secret, key, data)); err == nil {
		_, err = tmp.Write(data)
	}
	if e := tmp.Close(); err == nil {
		err = e
	}
	if err != nil {
		_ = os.Remove(tmp.Name()) // nothing else is to be done with it
		return ""
	}
	return tmp.Name()
}

// end makes a written entry the one of its key.
func (f Folder) end(tmp, key string) {
	if os.Rename(tmp, f.file(key)) != nil {
		_ = os.Remove(tmp) // nothing else is to be done with it
	}
	f.trim(MaxFolder)
}

// trim removes files beyond most bytes, those that were used longest ago first. What a
// process that ended left half-written goes after a day. A folder that the user names may
// hold files of theirs: what has not the name of a key stays.
func (f Folder) trim(most int64) {
	entries, err := os.ReadDir(string(f))
	if err != nil {
		return
	}
	var files []fs.FileInfo
	sum := int64(0)
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		name := strings.TrimSuffix(e.Name(), filepath.Ext(e.Name()))
		switch key, _, part := strings.Cut(name, "-"); {
		case !isKey(key):
		case filepath.Ext(e.Name()) == whole && !part:
			files, sum = append(files, info), sum+info.Size()
		case filepath.Ext(e.Name()) == begun && time.Since(info.ModTime()) > 24*time.Hour:
			_ = os.Remove(filepath.Join(string(f), e.Name()))
		}
	}
	slices.SortFunc(files, func(a, b fs.FileInfo) int {
		return cmp.Or(a.ModTime().Compare(b.ModTime()), cmp.Compare(a.Name(), b.Name()))
	})
	for _, info := range files {
		if sum <= most {
			return
		}
		sum -= info.Size()
		_ = os.Remove(filepath.Join(string(f), info.Name())) // another process may have done so
	}
}
