//go:build !linux

package array

func askForHugePages([]byte) {}
