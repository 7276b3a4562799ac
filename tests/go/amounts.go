// amounts FILE RATE: allocates known amounts, collects, and writes its own heap profile; then it waits
// for the end of its input.
package main

import (
	"bytes"
	"io"
	"os"
	"runtime"
	"runtime/pprof"
	"strconv"
	"sync"
)

type node[T any] struct {
	next  *node[T]
	value T
}

var kept [][]byte
var list *node[[64]byte]
var mutex sync.Mutex

func inner(n int) []byte { return make([]byte, n) }

func outer(n int) []byte { return inner(n) }

//go:noinline
func push[T any](l *node[T], v T) *node[T] { return &node[T]{l, v} }

//go:noinline
func deep(n, size int) []byte {
	if n == 0 {
		return outer(size)
	}
	return deep(n-1, size)
}

func work(id int) {
	for i := 0; i < 200; i++ {
		b := outer(10000 + 1000*id)
		if i%4 == 0 {
			mutex.Lock()
			kept = append(kept, b)
			mutex.Unlock()
		}
	}
}

func main() {
	runtime.MemProfileRate, _ = strconv.Atoi(os.Args[2])
	var all sync.WaitGroup
	for id := 0; id < 4; id++ {
		all.Add(1)
		go func(id int) {
			defer all.Done()
			work(id)
		}(id)
	}
	all.Wait()
	for i := 0; i < 20000; i++ {
		list = push(list, [64]byte{})
	}
	for i := 0; i < 200; i++ {
		kept = append(kept, deep(i, 4096))
	}
	runtime.GC()
	var profile bytes.Buffer
	pprof.Lookup("allocs").WriteTo(&profile, 0)
	os.WriteFile(os.Args[1], profile.Bytes(), 0o644)
	os.Stdout.WriteString("ready\n")
	io.ReadAll(os.Stdin)
	runtime.KeepAlive(list)
}
