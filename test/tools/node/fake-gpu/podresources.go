package main

import (
	"context"
	"log"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	api "k8s.io/kubelet/pkg/apis/podresources/v1"
)

type podResources struct{ client api.PodResourcesListerClient }

// holder is a container that has a GPU.
type holder struct {
	Namespace string `json:"namespace"`
	Pod       string `json:"pod"`
	Container string `json:"container"`
}

func dial(socket string) *grpc.ClientConn {
	connection, err := grpc.NewClient("unix://"+socket, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		log.Fatal(err)
	}
	return connection
}

func newPodResources() podResources {
	return podResources{api.NewPodResourcesListerClient(dial("/var/lib/kubelet/pod-resources/kubelet.sock"))}
}

// holders is who has which GPU, by UUID, as the kubelet says it: devices of plugins, and devices of claims.
func (p podResources) holders(ctx context.Context, gpus []gpu) (map[string]holder, error) {
	list, err := p.client.List(ctx, &api.ListPodResourcesRequest{})
	if err != nil {
		return nil, err
	}
	uuids := map[string]string{}
	for _, g := range gpus {
		uuids[g.name()] = g.uuid
	}
	held := map[string]holder{}
	for _, pod := range list.PodResources {
		for _, container := range pod.Containers {
			by := holder{pod.Namespace, pod.Name, container.Name}
			for _, devices := range container.Devices {
				if devices.ResourceName == resourceName {
					for _, id := range devices.DeviceIds {
						held[id] = by
					}
				}
			}
			for _, dynamic := range container.DynamicResources {
				for _, claimed := range dynamic.ClaimResources {
					if claimed.DriverName == driverName {
						held[uuids[claimed.DeviceName]] = by
					}
				}
			}
		}
	}
	return held, nil
}
