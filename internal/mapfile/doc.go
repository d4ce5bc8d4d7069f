// Package mapfile gives the contents of a file as memory. Where the system can
// map files (Linux, macOS), pages are read, and take memory, only when they are used;
// elsewhere the file is read. It knows no format.
//
// The memory is private: writes to it do not reach the file. Arrays point into it,
// and the garbage collector does not know it: only Close releases it. The system may reclaim
// unwritten pages meanwhile. A process has some 65,000 mappings (vm.max_map_count), so a
// caller that refuses a file closes it. A program that changes a file
// in place changes the memory, and one that truncates it ends the programs that use
// the missing part. So replace files in use (write another file, rename it) instead of
// writing over them.
//
// Read read.go first, then map_unix.go.
package mapfile
