// Package swap puts finished files in the place of others, so that nobody takes files of two
// makings for one: neither after a power cut nor when the process is killed between them. It
// writes no contents; who has written them asks for their places here.
//
// Several files of one making are exchanged while their folder is held, and read so, see Hold.
// A folder that one program fills for hours has an owner, see Claim.
//
// Read swap.go first.
package swap
