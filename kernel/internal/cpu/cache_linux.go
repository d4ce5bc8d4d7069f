package cpu

import "syscall"

// systemCaches asks Linux for the caches of the first processor.
func systemCaches(f *found, folder string) {
	var b [64]byte
	read := func(i int, name string) string {
		fd, err := syscall.Open(folder+"/index"+string(rune('0'+i))+"/"+name, syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
		if err != nil {
			return ""
		}
		n, err := syscall.Read(fd, b[:])
		_ = syscall.Close(fd)
		if err != nil || n <= 0 || b[n-1] != '\n' {
			return ""
		}
		return string(b[:n-1])
	}
	for i := range 8 {
		if kind := read(i, "type"); kind != "Data" && kind != "Unified" {
			continue
		}
		level, _ := bytesOf(read(i, "level"), 0)
		size, _ := bytesOf(read(i, "size"), 0)
		line, _ := bytesOf(read(i, "coherency_line_size"), 0)
		f.add(level, size, listed(read(i, "shared_cpu_list")), line)
	}
}

// listed counts the processors of a list such as "0-3,8".
func listed(list string) (n int) {
	for list != "" {
		one := list
		for i := range len(list) {
			if list[i] == ',' {
				one = list[:i]
				break
			}
		}
		list = list[min(len(one)+1, len(list)):]
		if first, rest := bytesOf(one, '-'); first >= 0 {
			if last, _ := bytesOf(rest, 0); last >= first {
				n += last - first
			}
		}
		n++
	}
	return n
}
