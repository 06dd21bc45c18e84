import { until } from "../servers/kubernetesAdmin.ts";
import type { RealNode } from "./realNode.ts";

/** The ledger's path in every installation by the chart. */
export const ledgerPath = "/var/lib/fairlead/ledger.db";

/** The program in the image, as a guide names it for `kubectl exec`. */
const program = "/nodejs/bin/node /app/cli/main.js";

/** One pod of an installation. */
export class FairleadPod {
  readonly #node: RealNode;
  readonly namespace: string;
  readonly name: string;

  constructor(node: RealNode, namespace: string, name: string) {
    this.#node = node;
    this.namespace = namespace;
    this.name = name;
  }

  async ask(path: string, port = 10_836): Promise<string> {
    return await this.#node.ofPod(this.namespace, this.name, port, path);
  }

  async isReady(): Promise<boolean> {
    return await this.ask("/readyz", 10_837).then(
      () => true,
      () => false,
    );
  }

  async untilReady(): Promise<void> {
    await until(`${this.namespace}/${this.name} is ready`, async () => await this.isReady());
  }

  async metrics(): Promise<string> {
    return await this.ask("/metrics");
  }

  /** Runs a command of `fairlead` in its container. */
  async fairlead(words: string): Promise<string> {
    return await this.#node.run(
      `kubectl --namespace ${this.namespace} exec ${this.name} --container fairlead -- ${program} ${words}`,
    );
  }

  /** Throws where the ledger is not sound. */
  async checkLedger(): Promise<string> {
    return await this.fairlead(`ledger check ${ledgerPath}`);
  }
}

/** The sum of the samples of a series whose labels have these texts. */
export function sumOf(page: string, series: string, ...labels: readonly string[]): number {
  return page
    .split("\n")
    .filter((line) => line.startsWith(`${series}{`) && labels.every((label) => line.includes(label)))
    .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(" ") + 1)), 0);
}
