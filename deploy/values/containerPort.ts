import { defaultListenAddress, parseListenAddress } from "../../exporter/publish/http/listenAddress.ts";

/** The port on which Fairlead listens by default. */
export const containerPort = parseListenAddress(defaultListenAddress)?.port ?? 0;
