// Kubernetes' servers and kubectl in one program, because five would be linked, and compiled in part, five times. It is
// the one that it is called as; under another name the first argument says which.
package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	_ "time/tzdata" // the time zones of CronJobs, as in Kubernetes' own programs

	"github.com/spf13/cobra"

	_ "k8s.io/client-go/plugin/pkg/client/auth"
	"k8s.io/component-base/cli"
	"k8s.io/component-base/logs"
	_ "k8s.io/component-base/logs/json/register"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
	kubectl "k8s.io/kubectl/pkg/cmd"
	"k8s.io/kubectl/pkg/cmd/util"

	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllers "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	proxy "k8s.io/kubernetes/cmd/kube-proxy/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
	kubelet "k8s.io/kubernetes/cmd/kubelet/app"
)

func runServer(command func() *cobra.Command) func() {
	return func() { os.Exit(cli.Run(command())) }
}

// kubectl says itself what went wrong, and its verbosity is wanted before its flags are read.
func runKubectl() {
	_, _ = logs.GlogSetter(kubectl.GetLogVerbosity(os.Args))
	if err := cli.RunNoErrOutput(kubectl.NewDefaultKubectlCommand()); err != nil {
		util.CheckErr(err)
	}
}

func main() {
	programs := map[string]func(){
		"kube-apiserver":          runServer(apiserver.NewAPIServerCommand),
		"kube-controller-manager": runServer(controllers.NewControllerManagerCommand),
		"kube-proxy":              runServer(proxy.NewProxyCommand),
		"kube-scheduler":          runServer(func() *cobra.Command { return scheduler.NewSchedulerCommand() }),
		"kubelet":                 runServer(func() *cobra.Command { return kubelet.NewKubeletCommand(context.Background()) }),
		"kubectl":                 runKubectl,
	}
	run := programs[filepath.Base(os.Args[0])]
	if run == nil && len(os.Args) > 1 {
		os.Args = os.Args[1:]
		run = programs[os.Args[0]]
	}
	if run == nil {
		fmt.Fprintln(os.Stderr, "usage: kube kube-apiserver|kube-controller-manager|kube-proxy|kube-scheduler|kubelet|kubectl ARGUMENT...")
		os.Exit(2)
	}
	run()
}
