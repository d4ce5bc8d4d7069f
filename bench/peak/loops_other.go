//go:build !amd64 && !arm64

package peak

func loops() kinds { return generic() }
