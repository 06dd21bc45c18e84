import { chmodSync, cpSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import { repository } from "../servers/imageBuild.ts";
import { until } from "../servers/kubernetesAdmin.ts";
import type { RealNode, Said } from "./realNode.ts";

const statefulSetSchema = z.object({
  metadata: z.object({ generation: z.number() }),
  spec: z.object({ replicas: z.number() }),
  status: z.object({
    observedGeneration: z.number().default(0),
    replicas: z.number().default(0),
    updatedReplicas: z.number().default(0),
    readyReplicas: z.number().default(0),
  }),
});

const statefulSet = "/apis/apps/v1/namespaces/fairlead/statefulsets/fairlead";

/** The port that guides forward to, and the name under which a reader's browser asks for it. */
const forwarded = "http://localhost:10836/readyz";

/** Someone who types the commands of a guide in a folder that holds `deploy`, with `fairlead`, kubectl and helm at hand. */
export class GuideReader {
  readonly folder: string;
  readonly #node: RealNode;

  constructor(node: RealNode) {
    this.#node = node;
    this.folder = mkdtempSync(join(tmpdir(), "fairlead-guide-"));
    cpSync(join(repository, "deploy"), join(this.folder, "deploy"), { recursive: true });
    const program = join(this.folder, "fairlead");
    writeFileSync(program, `#!/bin/sh\nexec ${process.execPath} ${join(repository, "cli/main.ts")} "$@"\n`);
    chmodSync(program, 0o755);
  }

  /** Types a block, and stops at the first command that fails. A forwarded port is tried, and closed. */
  async types(block: string): Promise<Said> {
    const commands = block.replace(/^(kubectl .*\bport-forward\b[^#\n]*).*$/gm, (_, command: string) =>
      triedPort(command),
    );
    return await this.#node.shell(`export PATH=${this.folder}:$PATH\n${commands}`, { cwd: this.folder });
  }

  /**
   * Waits until all replicas are there as they were changed last, and ready. `kubectl rollout status` would wait for a minute
   * more, until they have been ready for `minReadySeconds`.
   */
  async waits(): Promise<void> {
    await until("the replicas are as they were changed last", async () => {
      const found = await this.#statefulSet();
      if (typeof found === "string") return found === "absent";
      const { metadata, spec, status } = found;
      const counts = [status.replicas, status.updatedReplicas, status.readyReplicas];
      return status.observedGeneration === metadata.generation && counts.every((count) => count === spec.replicas);
    });
  }

  /** Waits until so many replicas are ready, changed or not. */
  async waitsUntilReady(count: number): Promise<void> {
    await until(`${count} replicas are ready`, async () => {
      const found = await this.#statefulSet();
      return typeof found !== "string" && found.status.readyReplicas === count && found.status.replicas === count;
    });
  }

  async #statefulSet(): Promise<z.infer<typeof statefulSetSchema> | "absent" | "unknown"> {
    const found = await this.#node.get(statefulSet).catch((error: Error) => error);
    if (typeof found === "string") return statefulSetSchema.parse(JSON.parse(found));
    return found.message.includes("NotFound") ? "absent" : "unknown";
  }

  /** What follows the section on credentials asks an installation without TLS and users, as the sections before it. */
  async takesUsersAway(): Promise<void> {
    await this.types("helm upgrade fairlead deploy/helm/fairlead --namespace fairlead --values values.yaml");
    await this.waits();
  }

  leaves(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

const triedPort = (command: string): string => `
${command} > /dev/null &
forwarding=$!
for try in $(seq 100); do busybox wget -q -O - ${forwarded} && break || sleep 0.2; done
kill $forwarding
[ "$try" -lt 100 ]`;
