// Package ziparc reads zip archives that lie in memory, such as mapped files: members
// that are stored are slices of that memory, others are unpacked within a bound. It is
// for readers of formats that are archives (.npz, PyTorch's). Archives are treated
// as hostile: members that share bytes, encrypted ones and names that occur twice
// are refused, and checksums are compared. It writes nothing and knows no format inside.
//
// Read ziparc.go first.
package ziparc
