// Package mapfile gives the contents of a file as memory: mapped where the system
// has it (Linux, macOS), so that pages are read when they are used and cost memory only
// then, read otherwise. It knows no format.
//
// The memory is private: writes to it do not reach the file. It is never given back,
// since arrays point into it; pages that were not written are the system's to reclaim.
// Who changes a file in place changes the memory, and who cuts it off ends programs
// that use what is missing: files in use are replaced (written beside, renamed), not
// written over.
package mapfile
