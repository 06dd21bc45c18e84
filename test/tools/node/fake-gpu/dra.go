package main

import (
	"context"
	"log"
	"os"

	resourceapi "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/dynamic-resource-allocation/kubeletplugin"
	"k8s.io/dynamic-resource-allocation/resourceslice"
	"k8s.io/kubernetes/test/e2e/dra/test-driver/app"
)

const driverName = "gpu.nvidia.com"

type slices struct {
	plugin *app.ExamplePlugin
	node   string
}

// offerBySlices publishes one pool with the attributes that NVIDIA's driver gives its GPUs.
func offerBySlices(ctx context.Context, node string, gpus []gpu) source {
	config, err := rest.InClusterConfig()
	if err != nil {
		log.Fatal(err)
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		log.Fatal(err)
	}
	text := func(value string) resourceapi.DeviceAttribute { return resourceapi.DeviceAttribute{StringValue: &value} }
	var devices []resourceapi.Device
	for _, g := range gpus {
		devices = append(devices, resourceapi.Device{
			Name: g.name(),
			Attributes: map[resourceapi.QualifiedName]resourceapi.DeviceAttribute{
				"type": text("gpu"), "uuid": text(g.uuid), "productName": text("NVIDIA H100 80GB HBM3"),
			},
			Capacity: map[resourceapi.QualifiedName]resourceapi.DeviceCapacity{"memory": {Value: resource.MustParse("81559Mi")}},
		})
	}
	folder := kubeletplugin.KubeletPluginsDir + "/" + driverName
	for _, made := range []string{folder, "/var/run/cdi"} {
		if err := os.MkdirAll(made, 0o755); err != nil {
			log.Fatal(err)
		}
	}
	pools := map[string]resourceslice.Pool{node: {Slices: []resourceslice.Slice{{Devices: devices}}}}
	plugin, err := app.StartPlugin(ctx, "/var/run/cdi", driverName, client, node,
		app.FileOperations{DriverResources: &resourceslice.DriverResources{Pools: pools}},
		app.Options{EnableHealthService: true}, kubeletplugin.PluginDataDirectoryPath(folder))
	if err != nil {
		log.Fatal(err)
	}
	return &slices{plugin, node}
}

func (s *slices) setHealth(g gpu, healthy bool) {
	state := "Healthy"
	if !healthy {
		state = "Unhealthy"
	}
	s.plugin.HealthControlChan <- app.DeviceHealthUpdate{PoolName: s.node, DeviceName: g.name(), Health: state}
}
