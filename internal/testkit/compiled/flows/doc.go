// Package flows has programs with Cond, While and Scan, for the tests of compiled functions: those whose functions store
// nothing have them in their records, the others have none.
//
// The room is for tests only. Read programs.go, then flows_test.go.
package flows
