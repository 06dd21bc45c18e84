import { defaultConfig } from "../../exporter/config/defaults.ts";
import type { Config } from "../../exporter/config/schema.ts";
import { type ApiClient, createApiClient } from "../../exporter/sources/kubernetes/apiClient.ts";
import { systemClock } from "../../exporter/sources/kubernetes/clock.ts";
import { loadCredentials } from "../../exporter/sources/kubernetes/credentials.ts";
import type { DumpFiles } from "../inspect/readFiles.ts";
import type { Io } from "../io.ts";
import { readConfig } from "../readConfig.ts";
import { withhold } from "../showProblem.ts";
import { captureCluster } from "./captureCluster.ts";

/** Flags that say which cluster is asked, and how long. */
export interface ClusterFlags {
  /** Path of a kubeconfig file; default: `KUBECONFIG`, else `~/.kube/config`, and in a pod its service account. */
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly "config.file"?: string;
  /** The time that the capture may take, seconds. */
  readonly deadline: number;
}

/** A cluster's API, and the configuration. */
interface OpenCluster {
  readonly client: ApiClient;
  readonly server: string;
  readonly config: Config;
}

/** What a cluster had at a moment. */
export interface Captured {
  readonly files: DumpFiles;
  readonly config: Config;
  /** The time of the capture, seconds since the epoch. */
  readonly now: number;
}

/** Opens the API that a kubeconfig names; `null` after it has been said why that cannot be done. */
async function openCluster(flags: ClusterFlags, io: Io): Promise<OpenCluster | null> {
  const file = flags["config.file"] ?? null;
  const config = file === null ? defaultConfig : await readConfig(file, io);
  if (config === null) return null;
  const loaded = await loadCredentials({
    kubeconfigFile: flags.kubeconfig ?? config.kubernetes.kubeconfig ?? null,
    context: flags.context ?? config.kubernetes.context ?? null,
  });
  if (!loaded.ok) {
    // After its first line, the message of a parser quotes lines of the file, which holds credentials.
    return withhold(
      loaded.problem.message.split("\n")[0] ?? "",
      "give --kubeconfig FILE or set KUBECONFIG; kubectl config get-contexts lists what --context takes.",
      io,
    );
  }
  const { credentials } = loaded;
  return { client: createApiClient(credentials, systemClock), server: credentials.server, config };
}

/** Captures the cluster that flags name; `null` after it has been said why nothing can be read. */
export async function captureOf(flags: ClusterFlags, io: Io): Promise<Captured | null> {
  const cluster = await openCluster(flags, io);
  if (cluster === null) return null;
  const { client, server, config } = cluster;
  const onProgress = (step: string): void => io.err(`fairlead: ${step}\n`);
  onProgress(`asking ${server}`);
  const ending = new AbortController();
  void io.interrupted.then(() => ending.abort(new Error("interrupted")));
  const tooLate = systemClock.schedule(flags.deadline, () =>
    ending.abort(new Error(`it did not come within the ${flags.deadline} s of --deadline`)),
  );
  try {
    const now = systemClock.now();
    const captured = await captureCluster(client, { config, signal: ending.signal, now, onProgress });
    if (captured.ok) return { files: captured, config, now };
    return withhold(captured.problem.message, captured.problem.nextStep, io);
  } finally {
    tooLate();
    await client.close();
  }
}
