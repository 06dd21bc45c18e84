package main

import (
	"context"
	"log"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"google.golang.org/grpc"
	api "k8s.io/kubelet/pkg/apis/deviceplugin/v1beta1"
)

type plugin struct {
	api.UnimplementedDevicePluginServer
	gpus    []gpu
	mutex   sync.Mutex
	ill     map[string]bool
	changed chan struct{}
}

// offerByPlugin registers with the kubelet, and again with each kubelet that comes after it: a new one removes the sockets
// of all plugins.
func offerByPlugin(gpus []gpu) source {
	p := &plugin{gpus: gpus, ill: map[string]bool{}, changed: make(chan struct{}, 1)}
	socket := filepath.Join(api.DevicePluginPath, "fake-gpu.sock")
	go func() {
		for {
			if _, err := os.Stat(socket); err != nil {
				if err := p.serve(socket); err != nil {
					log.Printf("not registered with the kubelet yet: %v", err)
					os.Remove(socket)
				}
			}
			time.Sleep(time.Second)
		}
	}()
	os.Remove(socket)
	return p
}

func (p *plugin) serve(socket string) error {
	listener, err := net.Listen("unix", socket)
	if err != nil {
		return err
	}
	server := grpc.NewServer()
	api.RegisterDevicePluginServer(server, p)
	go server.Serve(listener)
	kubelet := dial(api.KubeletSocket)
	defer kubelet.Close()
	_, err = api.NewRegistrationClient(kubelet).Register(context.Background(), &api.RegisterRequest{
		Version: api.Version, Endpoint: filepath.Base(socket), ResourceName: resourceName,
	})
	if err != nil {
		server.Stop()
	}
	return err
}

func (*plugin) GetDevicePluginOptions(context.Context, *api.Empty) (*api.DevicePluginOptions, error) {
	return &api.DevicePluginOptions{}, nil
}

func (p *plugin) ListAndWatch(_ *api.Empty, stream api.DevicePlugin_ListAndWatchServer) error {
	for {
		if err := stream.Send(&api.ListAndWatchResponse{Devices: p.devices()}); err != nil {
			return err
		}
		select {
		case <-p.changed:
		case <-stream.Context().Done():
			return nil
		}
	}
}

func (p *plugin) devices() []*api.Device {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	var devices []*api.Device
	for _, g := range p.gpus {
		health := api.Healthy
		if p.ill[g.uuid] {
			health = api.Unhealthy
		}
		devices = append(devices, &api.Device{ID: g.uuid, Health: health})
	}
	return devices
}

func (p *plugin) setHealth(g gpu, healthy bool) {
	p.mutex.Lock()
	p.ill[g.uuid] = !healthy
	p.mutex.Unlock()
	select {
	case p.changed <- struct{}{}:
	default:
	}
}

func (*plugin) Allocate(_ context.Context, request *api.AllocateRequest) (*api.AllocateResponse, error) {
	answer := &api.AllocateResponse{}
	for _, container := range request.ContainerRequests {
		visible := strings.Join(container.DevicesIds, ",")
		answer.ContainerResponses = append(answer.ContainerResponses, &api.ContainerAllocateResponse{
			Envs: map[string]string{"NVIDIA_VISIBLE_DEVICES": visible},
		})
	}
	return answer, nil
}
