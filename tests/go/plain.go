// plain HOW: keeps 32 blocks of 256 KiB of 96, and ends, in some way. It never asks for a profile, so that the linker
// switches it off.
package main

import (
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"
)

var kept [][]byte

//go:noinline
func block() []byte { return make([]byte, 256<<10) }

func keep() {
	for i := 0; i < 96; i++ {
		b := block()
		if i%3 == 0 {
			kept = append(kept, b)
		}
	}
}

func main() {
	keep()
	switch os.Args[1] {
	case "return":
		os.Stdout.WriteString("out\n")
		os.Stderr.WriteString("err\n")
	case "exit":
		os.Exit(7)
	case "panic":
		defer os.Stdout.WriteString("deferred\n")
		panic("for a test")
	case "thread":
		go os.Exit(9)
		select {}
	case "kill":
		syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {}
	case "signals":
		got := make(chan os.Signal, 100)
		signal.Notify(got, syscall.SIGUSR1)
		for i := 0; i < 100; i++ {
			syscall.Kill(os.Getpid(), syscall.SIGUSR1)
			<-got
		}
		os.Stdout.WriteString("100 signals\n")
	case "children":
		for i := 0; i < 20; i++ {
			out, err := exec.Command("/bin/echo", "child").Output()
			if err != nil {
				panic(err)
			}
			os.Stdout.Write(out)
		}
	case "start":
		out, err := exec.Command(os.Args[2], os.Args[3:]...).Output()
		if err != nil {
			panic(err)
		}
		os.Stdout.Write(out)
	case "exec":
		syscall.Exec("/bin/echo", []string{"echo", "another"}, os.Environ())
	case "spin":
		for end := time.Now().Add(time.Second); time.Now().Before(end); {
			block()
		}
	case "wait":
		os.Stdout.WriteString("ready\n")
		os.Stdin.Read(make([]byte, 1))
	}
}
