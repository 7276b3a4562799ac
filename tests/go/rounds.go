// rounds FILE RATE: does a round for each byte of its input: allocates, collects, writes its own heap profile, and says
// so; it ends with its input, or when a byte is `x`, by a fault.
package main

import (
	"bytes"
	"os"
	"runtime"
	"runtime/pprof"
	"strconv"
)

var kept [][]byte

//go:noinline
func short() []byte { return make([]byte, 1024) }

//go:noinline
func long() []byte { return make([]byte, 2048) }

func round(n int) {
	for i := 0; i < 500; i++ {
		short()
		if i%10 == 0 {
			kept = append(kept, long())
		}
	}
	if n%3 == 2 {
		kept = kept[len(kept)/2:]
	}
	runtime.GC()
	var profile bytes.Buffer
	pprof.Lookup("allocs").WriteTo(&profile, 0)
	os.WriteFile(os.Args[1], profile.Bytes(), 0o644)
	os.Stdout.WriteString("ready\n")
}

func main() {
	runtime.MemProfileRate, _ = strconv.Atoi(os.Args[2])
	input := make([]byte, 1)
	os.Stdout.WriteString("ready\n")
	for n := 0; ; n++ {
		if count, _ := os.Stdin.Read(input); count == 0 {
			break
		}
		if input[0] == 'x' {
			panic("for a test")
		}
		round(n)
	}
	runtime.KeepAlive(kept)
}
