package main_test

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strconv"
	"time"
)

// gen writes N bytes that look random and are the same every time:
// gen N [SEED]. Every byte value occurs, NUL and invalid UTF-8 too.
func gen() {
	n, seed := number(1, 0), number(2, 1)
	w := bufio.NewWriterSize(os.Stdout, 64<<10)
	src := rand.NewPCG(uint64(seed), 0)
	var word [8]byte
	for ; n > 0; n -= 8 {
		binary.LittleEndian.PutUint64(word[:], src.Uint64())
		if _, err := w.Write(word[:min(n, 8)]); err != nil {
			fail(err)
		}
	}
	if err := w.Flush(); err != nil {
		fail(err)
	}
}

// slowcat copies stdin to stdout in small pieces with pauses between them:
// slowcat BYTES MICROSECONDS.
func slowcat() {
	buf := make([]byte, number(1, 4096))
	pause := time.Duration(number(2, 100)) * time.Microsecond
	for {
		n, err := os.Stdin.Read(buf)
		if _, werr := os.Stdout.Write(buf[:n]); werr != nil {
			fail(werr)
		}
		if err == io.EOF {
			return
		}
		if err != nil {
			fail(err)
		}
		time.Sleep(pause)
	}
}

func number(i, fallback int) int {
	if len(os.Args) <= i {
		return fallback
	}
	n, err := strconv.Atoi(os.Args[i])
	if err != nil {
		fail(err)
	}
	return n
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, os.Args[0]+":", err)
	os.Exit(1)
}
