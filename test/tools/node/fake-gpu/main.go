// A node's fake NVIDIA GPUs. They are offered to the kubelet in one of two ways (GPU_DRIVER): by a device plugin as
// nvidia.com/gpu, or as ResourceSlices of the driver gpu.nvidia.com, by the test driver of Kubernetes itself. What they do
// is on a page like that of dcgm-exporter, with the pods that the kubelet's pod-resources API says hold them.
package main

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"os"
)

const resourceName = "nvidia.com/gpu"

// gpu is one device, with a name of each kind that a reader of the page, of a claim or of the kubelet meets.
type gpu struct {
	index int
	uuid  string
}

// name is what a ResourceSlice calls it.
func (g gpu) name() string { return fmt.Sprintf("gpu-%d", g.index) }

// source is one of the two ways.
type source interface {
	setHealth(g gpu, healthy bool)
}

func main() {
	node := os.Getenv("NODE_NAME")
	count := 4
	if text := os.Getenv("GPUS"); text != "" {
		if _, err := fmt.Sscan(text, &count); err != nil {
			log.Fatalf("GPUS=%q is no number: %v", text, err)
		}
	}
	var gpus []gpu
	for i := range count {
		gpus = append(gpus, gpu{i, fmt.Sprintf("GPU-00000000-0000-4000-8000-%012d", i)})
	}
	var offered source
	switch driver := os.Getenv("GPU_DRIVER"); driver {
	case "device-plugin":
		offered = offerByPlugin(gpus)
	case "dra":
		offered = offerBySlices(context.Background(), node, gpus)
	default:
		log.Fatalf("GPU_DRIVER=%q: device-plugin or dra is expected", driver)
	}
	kubelet := newPodResources()
	http.HandleFunc("GET /metrics", func(w http.ResponseWriter, r *http.Request) { writePage(w, r, kubelet, node, gpus) })
	// What the page is made of, for tests: the kubelet's own answer.
	http.HandleFunc("GET /held", func(w http.ResponseWriter, r *http.Request) { writeHeld(w, r, kubelet, gpus) })
	http.HandleFunc("POST /health/{gpu}/{state}", func(w http.ResponseWriter, r *http.Request) {
		for _, g := range gpus {
			if g.name() == r.PathValue("gpu") {
				offered.setHealth(g, r.PathValue("state") == "healthy")
				return
			}
		}
		http.NotFound(w, r)
	})
	log.Fatal(http.ListenAndServe(":9400", nil))
}
