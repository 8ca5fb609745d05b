package program

// Keep bounds what is kept of a stream, in bytes at each end. With both, what
// fits is kept whole; with one of them, only that end counts.
type Keep struct{ Head, Tail int }

// gap stands for what was left out between the two ends.
const gap = "\n…\n"

// keeper keeps the beginning and the end of what is written to it.
type keeper struct {
	Keep
	head, tail []byte
	cut        bool // something was left out before the tail
}

// Write never fails.
func (k *keeper) Write(p []byte) (int, error) {
	n := len(p)
	room := min(n, k.Head-len(k.head))
	k.head = append(k.head, p[:room]...)
	if p = p[room:]; k.Tail > 0 && len(p) > 0 {
		k.tail = append(k.tail, p...)
		if over := len(k.tail) - k.Tail; over > 0 {
			k.cut = true
			k.tail = append(k.tail[:0], k.tail[over:]...)
		}
	}
	return n, nil
}

// bytes is what was kept, as Result shows it.
func (k *keeper) bytes() []byte {
	all := k.head[:len(k.head):len(k.head)]
	if k.cut && k.Head > 0 {
		all = append(all, gap...)
	}
	return append(all, k.tail...)
}
