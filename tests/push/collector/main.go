// The receiver of the OpenTelemetry Collector, alone: it prints each request of profiles that it took as a
// line of JSON.
//
//	collector HOST:PORT
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"os/signal"
	"sync"
	"syscall"

	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/consumer/xconsumer"
	"go.opentelemetry.io/collector/pdata/pprofile"
	"go.opentelemetry.io/collector/receiver/otlpreceiver"
	"go.opentelemetry.io/collector/receiver/receivertest"
	"go.opentelemetry.io/collector/receiver/xreceiver"
)

var printing sync.Mutex

func show(_ context.Context, p pprofile.Profiles) error {
	text, err := (&pprofile.JSONMarshaler{}).MarshalProfiles(p)
	printing.Lock()
	defer printing.Unlock()
	fmt.Println(string(text))
	return err
}

func start(address string) error {
	ctx := context.Background()
	factory := otlpreceiver.NewFactory()
	config := factory.CreateDefaultConfig()
	http := map[string]any{"http": map[string]any{"endpoint": address}}
	if err := confmap.NewFromStringMap(map[string]any{"protocols": http}).Unmarshal(config); err != nil {
		return err
	}
	next, err := xconsumer.NewProfiles(show)
	if err != nil {
		return err
	}
	settings := receivertest.NewNopSettings(factory.Type())
	receiver, err := factory.(xreceiver.Factory).CreateProfiles(ctx, settings, config, next)
	if err != nil {
		return err
	}
	return receiver.Start(ctx, componenttest.NewNopHost())
}

func main() {
	if err := start(os.Args[1]); err != nil {
		log.Fatal(err)
	}
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, os.Interrupt, syscall.SIGTERM)
	<-ended
}
