// A Pyroscope of one process, as tests push to it: all its parts, its usual flags.
package main

import (
	"flag"
	"log"
	"os"

	"github.com/grafana/dskit/flagext"
	"github.com/grafana/pyroscope/pkg/cfg"
	"github.com/grafana/pyroscope/pkg/pyroscope"
)

type settings struct {
	pyroscope.Config `yaml:",inline"`
}

func (s *settings) Clone() flagext.Registerer {
	copied := *s
	return &copied
}

func (s *settings) PhlareConfig() *pyroscope.Config {
	return &s.Config
}

func main() {
	var s settings
	if err := cfg.DynamicUnmarshal(&s, os.Args[1:], flag.CommandLine); err != nil {
		log.Fatal(err)
	}
	server, err := pyroscope.New(s.Config)
	if err != nil {
		log.Fatal(err)
	}
	if err := server.Run(); err != nil {
		log.Fatal(err)
	}
}
