package mapfile

import "syscall"

// mapFlags: pages that nobody writes need no swap space, however large the file.
const mapFlags = syscall.MAP_NORESERVE
