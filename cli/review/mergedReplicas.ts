import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { mergeLedgers } from "../../exporter/accounts/ledger/mergeLedgers.ts";
import type { ExporterAddress } from "../exporterAddress.ts";
import type { Io } from "../io.ts";
import { fetchLedger } from "../ledger/fetchLedger.ts";
import { withhold } from "../showProblem.ts";

/** Several ledgers of one cluster, as files or in running replicas of one Fairlead. */
export type Replicas =
  | { readonly kind: "files"; readonly files: readonly string[] }
  | { readonly kind: "running"; readonly exporters: readonly ExporterAddress[] };

/** One ledger of all of them, in a temporary folder. */
export interface MergedReplicas {
  readonly ledger: string;
  /** The name that messages show for the ledger. */
  readonly name: string;
  /** The cluster that the replicas watch; `null` for files, which do not name it. */
  readonly cluster: string | null;
  readonly close: () => Promise<void>;
}

/**
 * Merges the ledgers of replicas; `null` after it has been said why that cannot be done. Running replicas are asked one after
 * the other; one that does not answer is named and left out, and what it alone covered is not covered then.
 */
export async function mergeReplicas(replicas: Replicas, io: Io): Promise<MergedReplicas | null> {
  let folder: string;
  try {
    folder = await mkdtemp(path.join(tmpdir(), "fairlead-review-"));
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return withhold(message, "Free some space in the folder for temporary files (TMPDIR, else /tmp).", io);
  }
  const close = async (): Promise<void> => await rm(folder, { recursive: true, force: true });
  const merged = await mergeInto(folder, replicas, io).catch((error: unknown) =>
    withhold(error instanceof Error ? error.message : String(error), "Check the folder for temporary files.", io),
  );
  if (merged !== null) return { ...merged, close };
  await close();
  return null;
}

type Merged = Omit<MergedReplicas, "close">;

async function mergeInto(folder: string, replicas: Replicas, io: Io): Promise<Merged | null> {
  const known =
    replicas.kind === "files"
      ? { files: replicas.files, cluster: null }
      : await fetchAll(folder, replicas.exporters, io);
  if (known === null) return null;
  const { files, cluster } = known;
  const names =
    replicas.kind === "files" ? files.join(" and ") : replicas.exporters.map(({ url }) => url).join(" and ");
  const [only] = files;
  if (only !== undefined && files.length === 1) return { ledger: only, name: names, cluster };
  io.err(`fairlead: merging ${files.length} ledgers\n`);
  const ledger = path.join(folder, "merged.db");
  const merged = mergeLedgers(files, ledger);
  return merged.ok ? { ledger, name: names, cluster } : withhold(merged.problem.message, merged.problem.nextStep, io);
}

async function fetchAll(folder: string, exporters: readonly ExporterAddress[], io: Io) {
  const files: string[] = [];
  const clusters = new Map<string, string>();
  for (const [i, exporter] of exporters.entries()) {
    io.err(`fairlead: copying the ledger of ${exporter.url}\n`);
    // The name of the file is part of messages about it.
    const file = path.join(folder, `${i}-${exporter.url.replaceAll(/[^\w.-]+/g, "_").slice(0, 100)}.db`);
    const fetched = await fetchLedger(exporter, file);
    if (!fetched.ok) {
      io.err(`fairlead: left out: ${fetched.error}\nNext step: ${fetched.nextStep}\n`);
      continue;
    }
    files.push(file);
    if (fetched.cluster !== null) clusters.set(fetched.cluster, exporter.url);
  }
  if (files.length === 0) return withhold("no replica has given its ledger", "See the lines above.", io);
  const [cluster = null, other] = clusters.keys();
  if (cluster === null || other === undefined) return { files, cluster };
  return withhold(
    `${clusters.get(cluster)} watches cluster ${JSON.stringify(cluster)}, and ${clusters.get(other)} watches ${JSON.stringify(other)}`,
    "Name replicas of one Fairlead; for several clusters, write the review of each with --format json, and use --merge.",
    io,
  );
}
