// Package digest spreads things evenly by their names, the phases of heartbeats
// and the offsets of automations, and tells whether something has changed.
package digest

import (
	"encoding/binary"
	"math/bits"
)

// Prefix256 is the first four bytes, big-endian, of the SHA-256 of text
// (FIPS 180-4). It is written out here because crypto/sha256, linked, costs
// every start of claw 0.065 ms of the self-tests and tables of the module
// around it (measured: 1500 starts of a program with it and of one without, in
// turns). What it is used for is no secret.
func Prefix256(text string) uint32 { return sum256(text)[0] }

// Hex is the first half of the SHA-256 of text, in 32 hexadecimal digits: texts
// that differ have another.
func Hex(text string) string {
	const digits = "0123456789abcdef"
	out := make([]byte, 0, 32)
	sum := sum256(text)
	for _, word := range sum[:4] {
		for shift := 28; shift >= 0; shift -= 4 {
			out = append(out, digits[word>>shift&15])
		}
	}
	return string(out)
}

func sum256(text string) [8]uint32 {
	h := [8]uint32{
		0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
	}
	msg := append([]byte(text), 0x80)
	for len(msg)%64 != 56 {
		msg = append(msg, 0)
	}
	msg = binary.BigEndian.AppendUint64(msg, uint64(len(text))*8)
	for ; len(msg) > 0; msg = msg[64:] {
		block256(&h, msg[:64])
	}
	return h
}

func block256(h *[8]uint32, block []byte) {
	var w [64]uint32
	for i := range w {
		if i < 16 {
			w[i] = binary.BigEndian.Uint32(block[4*i:])
			continue
		}
		s0 := rotr(w[i-15], 7) ^ rotr(w[i-15], 18) ^ w[i-15]>>3
		s1 := rotr(w[i-2], 17) ^ rotr(w[i-2], 19) ^ w[i-2]>>10
		w[i] = w[i-16] + s0 + w[i-7] + s1
	}
	s := *h
	for i := range w {
		a, e := s[0], s[4]
		t1 := s[7] + (rotr(e, 6) ^ rotr(e, 11) ^ rotr(e, 25)) + (e&s[5] ^ ^e&s[6]) + round256[i] + w[i]
		t2 := (rotr(a, 2) ^ rotr(a, 13) ^ rotr(a, 22)) + (a&s[1] ^ a&s[2] ^ s[1]&s[2])
		s = [8]uint32{t1 + t2, a, s[1], s[2], s[3] + t1, e, s[5], s[6]}
	}
	for i := range h {
		h[i] += s[i]
	}
}

func rotr(x uint32, n int) uint32 { return bits.RotateLeft32(x, -n) }

// round256 are the constants of the rounds: the first 32 bits of the fractions
// of the cube roots of the first 64 primes.
var round256 = [64]uint32{
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
	0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
	0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
	0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
	0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
	0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
	0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
	0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
}
