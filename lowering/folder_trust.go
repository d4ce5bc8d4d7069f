package lowering

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"io/fs"
	"os"
	"path/filepath"
)

// What lies in a Folder is given to drivers, which run it: it is as good as the program
// itself. Nobody else may have put it there. The folder and its files must belong to the user
// and be writable by nobody else, and each entry has a sum that needs the folder's key, so
// that a file which was copied into it, from an archive for instance, is not taken for one
// that was made here. Whoever runs as the user can read the key: against them nothing helps.

// keyFile holds the key; no entry has such a name.
const keyFile = ".key"

// trusted reports whether only this user can write to the folder.
func (f Folder) trusted() bool {
	info, err := os.Stat(string(f))
	return err == nil && info.IsDir() && ownAlone(info)
}

// secret returns the folder's key, nil where there is none that is good. It is made where
// that is asked for.
func (f Folder) secret(create bool) []byte {
	if key := f.readSecret(); key != nil || !create {
		return key
	}
	path := filepath.Join(string(f), keyFile)
	tmp, err := os.CreateTemp(string(f), keyFile+"-*")
	if err != nil {
		return nil
	}
	defer os.Remove(tmp.Name())
	key := make([]byte, sha256.Size)
	_, _ = rand.Read(key) // never fails
	_, err = tmp.Write(key)
	if e := tmp.Close(); err != nil || e != nil {
		return nil
	}
	if os.Link(tmp.Name(), path) == nil {
		return key
	}
	if key := f.readSecret(); key != nil { // another process was faster
		return key
	}
	if os.Rename(tmp.Name(), path) != nil { // in place of what is no key
		return nil
	}
	return f.readSecret()
}

func (f Folder) readSecret() []byte {
	path := filepath.Join(string(f), keyFile)
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() != sha256.Size || !ownAlone(info) || !private(info) {
		return nil
	}
	key, err := os.ReadFile(path)
	if err != nil || len(key) != sha256.Size {
		return nil
	}
	return key
}

// sumOf is the sum of an entry.
func sumOf(secret []byte, key string, data []byte) []byte {
	h := hmac.New(sha256.New, secret)
	_, _ = h.Write([]byte(stem(key))) // never fails; an entry is no other key's
	_, _ = h.Write(data)
	return h.Sum(nil)
}

// readable reports whether an entry is worth reading.
func readable(info fs.FileInfo) bool {
	return info.Mode().IsRegular() && info.Size() <= MaxFolder && info.Size() >= sha256.Size && ownAlone(info)
}
