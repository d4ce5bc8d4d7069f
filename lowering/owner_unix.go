//go:build unix

package lowering

import (
	"io/fs"
	"os"
	"syscall"
)

// ownAlone reports whether a file or folder is this user's and no other can write to it.
func ownAlone(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Geteuid() && info.Mode().Perm()&0o022 == 0
}

// private reports whether no other user can read it.
func private(info fs.FileInfo) bool { return info.Mode().Perm()&0o077 == 0 }
