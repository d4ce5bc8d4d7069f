// Package mapfile gives the contents of a file as memory: mapped where the system
// has it (Linux, macOS), so that pages are read when they are used and cost memory only
// then, read otherwise. It knows no format.
//
// The memory is private: writes to it do not reach the file. Arrays point into it, of
// which the collector knows nothing: it is given back by Close and by nothing else, and
// pages that were not written are the system's to reclaim meanwhile. A process has some
// 65,000 mappings (vm.max_map_count): who refuses a file closes it.
// Who changes a file in place changes the memory, and who cuts it off ends programs
// that use what is missing: files in use are replaced (written beside, renamed), not
// written over.
//
// Read read.go first, then map_unix.go.
package mapfile
