import { cpus } from "node:os";
import { quantile } from "../measure.ts";
import type { Served } from "./victims.ts";

/** What happened to one Fairlead of a certain size. */
export interface Measured {
  readonly nodes: number;
  /** The memory limit of the chart, in mebibytes. */
  readonly limitMiB: number;
  /** The most that was resident, in mebibytes. */
  readonly peakMiB: number;
  readonly hasLived: boolean;
  readonly quiet: readonly Served[];
  readonly served: readonly Served[];
  /** What the attackers experienced, by kind and answer. */
  readonly counts: Readonly<Record<string, number>>;
}

/** The text of docs/attack.md. */
export function reportOf(measured: readonly Measured[], { attackSeconds }: { readonly attackSeconds: number }): string {
  const parts = measured.map((one) => {
    const rows = one.served.map(({ what, milliseconds, failed }) => {
      const before = one.quiet.find((quiet) => quiet.what === what)?.milliseconds ?? [];
      return `| ${what} | ${at(before, 0.5)} | ${at(milliseconds, 0.5)} | ${at(milliseconds, 0.95)} | ${at(milliseconds, 1)} | ${milliseconds.length} | ${failed} |`;
    });
    const counts = Object.entries(one.counts).sort(([a], [b]) => a.localeCompare(b));
    return `## ${one.nodes.toLocaleString("en")} nodes

${one.hasLived ? "It lived." : "**It ended.**"} At most ${Math.round(one.peakMiB)} MiB were resident; the chart allows ${one.limitMiB} MiB.

| asked | median before, ms | median, ms | p95, ms | longest, ms | answers | failed |
|---|---|---|---|---|---|---|
${rows.join("\n")}

What the attackers saw: ${counts.map(([what, times]) => `${what}: ${times}`).join("; ")}.
`;
  });
  return `# Under attack

Written by \`node bench/attack/main.ts --write\`. A \`fairlead serve\` with users and a ledger, in control groups with the chart's limit of memory and
the weight of its request of CPU where the machine lets them be made (else with half of the memory as heap); for ${attackSeconds} seconds, all at once and on loopback: 1,000 readers of \`/api/v1/snapshot\` who take nothing, 1,000 connections on which nothing is
asked, 100 wrong logins a second, and 60 questions at a time for \`/review\` and \`/api/v1/explain\`. Whoever is sent away comes back after a
second. Each kind comes from an address of its own; the readers and questions have valid credentials. On 2 cores of
${cpus()[0]?.model ?? "an unknown machine"}, Node ${process.version}, shared with the attackers and the simulated cluster.

${parts.join("\n")}`;
}

const at = (values: readonly number[], q: number): string =>
  values.length === 0 ? "–" : quantile(values, q).toFixed(q === 0.5 ? 1 : 0);
