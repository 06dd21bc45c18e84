import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { Socket } from "node:net";
import { describe, expect, it } from "vitest";
import { playCluster } from "../../cli/demo/playCluster.ts";
import { defaultConfig } from "../../exporter/config/defaults.ts";
import { demoScenario } from "../../simulator/scenarios/demo.ts";

/** Where this process opens connections to while something runs: Node reports every TCP socket that a client makes. */
async function connectionsOf(run: () => Promise<void>): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  const note = (message: unknown): void => {
    const socket = typeof message === "object" && message !== null && "socket" in message ? message.socket : null;
    if (!(socket instanceof Socket)) throw new Error("Node says of sockets in another way than this test knows");
    socket.once("connect", () => found.add(`${socket.remoteAddress}:${socket.remotePort}`));
  };
  subscribe("net.client.socket", note);
  try {
    await run();
  } finally {
    unsubscribe("net.client.socket", note);
  }
  return found;
}

const endOf = (url: string): string => new URL(url).host;

describe("what leaves the cluster", () => {
  it("is nothing: at its defaults Fairlead talks to the Kubernetes API and to exporters alone", async () => {
    const expected = new Set<string>();
    const found = await connectionsOf(async () => {
      const scenario = { ...demoScenario(), faults: [] };
      const cluster = await playCluster({ scenario, seed: 1, startAt: 1_790_000_000, config: defaultConfig });
      try {
        expected.add(endOf(cluster.simulator.apiUrl));
        for (const url of cluster.simulator.metricsUrls.values()) expected.add(endOf(url));
        for (let cycle = 0; cycle < 3; cycle++) await cluster.step(30);
        expect(cluster.stack.latest()?.page.length ?? 0).toBeGreaterThan(0);
      } finally {
        await cluster.stop();
      }
    });
    expect([...found].filter((end) => !expected.has(end))).toEqual([]);
    // Else the channel reported nothing, and the test could not fail.
    expect(found.size).toBeGreaterThan(2);
  });

  it("is noticed when there is something", async () => {
    const found = await connectionsOf(async () => {
      await fetch("http://127.0.0.1:9/").catch(() => null);
      const { createServer } = await import("node:http");
      const server = createServer((_, response) => response.end());
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      const address = server.address();
      const port = typeof address === "object" && address !== null ? address.port : 0;
      await (await fetch(`http://127.0.0.1:${port}/`)).text();
      server.close();
    });
    expect(found.size).toBe(1);
  });
});
