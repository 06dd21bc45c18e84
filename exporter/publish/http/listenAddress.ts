/**
 * Where `serve` listens by default. The range that Prometheus sets apart for exporters (9100-9999) is full, so this
 * port is outside of it, and free in the list of allocations that goes on from 10001
 * (https://github.com/prometheus/prometheus/wiki/Default-port-allocations).
 */
export const defaultListenAddress = ":10836";

/** The path of the page of metrics by default. */
export const defaultTelemetryPath = "/metrics";

/** A parsed listen address; `host` is `null` for all interfaces. */
interface ListenAddress {
  readonly host: string | null;
  readonly port: number;
}

/** Parses `:10836`, `127.0.0.1:10836`, `[::1]:10836` or `localhost:0`; `null` for anything else. */
export function parseListenAddress(text: string): ListenAddress | null {
  const match = /^(?:\[([0-9A-Fa-f:.]+)\]|([^:[\]\s/]*)):(\d{1,5})$/.exec(text);
  if (match === null) return null;
  const port = Number(match[3]);
  if (port > 65535) return null;
  return { host: match[1] || match[2] || null, port };
}
