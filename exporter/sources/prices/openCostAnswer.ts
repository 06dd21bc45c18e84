import { z } from "zod";
import type { QuotedPrice } from "../../model/prices.ts";
import { readEnvelope } from "../http/prometheusEnvelope.ts";
import { shownText } from "../http/shownText.ts";
import { openCostMetrics } from "./openCostQuery.ts";

/** What a server's answer says of nodes, or why it says nothing. */
export type OpenCostAnswer =
  | {
      readonly ok: true;
      readonly quoted: ReadonlyMap<string, QuotedPrice>;
      /** Nodes that are reported of, priced or not. */
      readonly nodes: number;
      /** Nodes whose GPUs OpenCost does not count or prices at 0: it does not know what they cost. */
      readonly withoutGpus: number;
    }
  | { readonly ok: false; readonly message: string };

const vector = z.object({ resultType: z.literal("vector"), result: z.array(z.unknown()) });
const series = z.object({ metric: z.record(z.string(), z.unknown()), value: z.tuple([z.number(), z.string()]) });

const mostNodes = 100_000;
const mostPerHour = 1_000_000;

/** Prices by node of an answer of `/api/v1/query`; `at` is its time by Fairlead's clock. Never throws. */
export function readOpenCostAnswer(body: Buffer, nodeLabel: string, at: number): OpenCostAnswer {
  const envelope = readEnvelope(body);
  if (envelope.kind === "refused") return { ok: false, message: `refuses the query: ${shownText(envelope.reason)}` };
  const checked = vector.safeParse(envelope.kind === "success" ? envelope.data : null);
  if (!checked.success) return { ok: false, message: "does not answer as Prometheus answers a query" };
  const found = new Map<string, NodeNumbers>();
  for (const entry of checked.data.result) {
    const one = series.safeParse(entry);
    if (one.success) take(found, one.data, nodeLabel);
  }
  const quoted = new Map<string, QuotedPrice>();
  let withoutGpus = 0;
  for (const [node, { perGpu, perNode, gpus }] of found) {
    // Without the GPUs, the node's total is that of its CPU and memory alone.
    if (gpus === 0 || perGpu === 0) withoutGpus += 1;
    else if (perGpu !== null || perNode !== null) quoted.set(node, { perGpuHour: perGpu, perNodeHour: perNode, at });
  }
  return { ok: true, quoted, nodes: found.size, withoutGpus };
}

interface NodeNumbers {
  perGpu: number | null;
  perNode: number | null;
  gpus: number | null;
}

function take(found: Map<string, NodeNumbers>, { metric, value }: z.infer<typeof series>, nodeLabel: string): void {
  const node = metric[nodeLabel];
  const name = metric.__name__;
  const number = Number(value[1]);
  if (typeof node !== "string" || node === "" || node.length > 253) return;
  if (value[1].trim() === "" || !(number >= 0) || number > mostPerHour) return;
  const known = found.get(node) ?? { perGpu: null, perNode: null, gpus: null };
  if (name === openCostMetrics.perGpu) known.perGpu = number;
  else if (name === openCostMetrics.perNode) known.perNode = number;
  else if (name === openCostMetrics.gpus) known.gpus = number;
  else return;
  if (found.size < mostNodes) found.set(node, known);
}
