// mixed: keeps 32 blocks of 1 MiB of C's, and 32 of Go's, and waits for the end of its input.
package main

// #include <stdlib.h>
// static void *take(size_t n) { return malloc(n); }
import "C"
import "os"

var kept [][]byte
var taken [32]*byte

func main() {
	for i := range taken {
		kept = append(kept, make([]byte, 1<<20))
		taken[i] = (*byte)(C.take(1 << 20))
	}
	os.Stdout.WriteString("ready\n")
	os.Stdin.Read(make([]byte, 1))
}
