import { defaultListenAddress, parseListenAddress } from "../../exporter/publish/http/listenAddress.ts";

/** The port on which Fairlead listens by default. */
export const containerPort = parseListenAddress(defaultListenAddress)?.port ?? 0;

/** The port on which the kubelet finds the probes, apart from everybody else: the next one. */
export const probePort = containerPort + 1;
