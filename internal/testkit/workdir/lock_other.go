//go:build !unix

package workdir

// lock knows no lock that ends with the process: folders are temporary ones here.
func lock(string) (unlock func(), ok bool) { return nil, false }
