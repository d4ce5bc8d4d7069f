//go:build !unix

package peers

func (p *Peer) pause()  {}
func (p *Peer) resume() {}
