//go:build unix

package peers

import "syscall"

func (p *Peer) pause()  { p.signal(syscall.SIGSTOP) }
func (p *Peer) resume() { p.signal(syscall.SIGCONT) }

// signal reports nothing: a process that has ended shows when it is asked.
func (p *Peer) signal(s syscall.Signal) {
	if p.cmd.Process != nil {
		_ = p.cmd.Process.Signal(s)
	}
}
