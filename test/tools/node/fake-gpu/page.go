package main

import (
	"encoding/json"
	"fmt"
	"net/http"
)

// A GPU that is held is at work.
var families = []struct {
	name       string
	held, free float64
}{
	{"DCGM_FI_DEV_GPU_UTIL", 80, 0},
	{"DCGM_FI_DEV_FB_USED", 40_000, 0},
	{"DCGM_FI_DEV_FB_FREE", 41_559, 81_559},
}

func writePage(w http.ResponseWriter, r *http.Request, kubelet podResources, node string, gpus []gpu) {
	held, err := kubelet.holders(r.Context(), gpus)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	for _, family := range families {
		fmt.Fprintf(w, "# HELP %s Of a GPU that a test made up.\n# TYPE %s gauge\n", family.name, family.name)
		for _, g := range gpus {
			value, pod := family.free, ""
			if by, ok := held[g.uuid]; ok {
				value, pod = family.held, fmt.Sprintf(",container=%q,namespace=%q,pod=%q", by.Container, by.Namespace, by.Pod)
			}
			fmt.Fprintf(w, "%s{gpu=\"%d\",UUID=%q,device=\"nvidia%d\",modelName=\"NVIDIA H100 80GB HBM3\",Hostname=%q%s} %g\n",
				family.name, g.index, g.uuid, g.index, node, pod, value)
		}
	}
}

func writeHeld(w http.ResponseWriter, r *http.Request, kubelet podResources, gpus []gpu) {
	held, err := kubelet.holders(r.Context(), gpus)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(held)
}
