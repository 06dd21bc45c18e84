import type { AccountingEntry } from "../../analysis/accountingEntry.ts";
import type { Analysis } from "../../analysis/analysis.ts";
import { sortByTexts } from "../document/sortByTexts.ts";
import { holdingSources, type ReasonContext, type ReasonSettings, reasonOf } from "./reasons.ts";
import type { ExplainedPart } from "./schema.ts";

/** The parts of GPUs that `isWanted` chooses: one for each device and holder, its states beside each other. */
export function explainParts(
  { accountingEntries, snapshot }: Analysis,
  isWanted: (accountingEntry: AccountingEntry) => boolean,
  settings: ReasonSettings,
): ExplainedPart[] {
  const context = { snapshot, nodes: new Map(snapshot.nodes.map((node) => [node.name, node])), settings };
  const parts = new Map<string, ExplainedPart>();
  for (const [index, accountingEntry] of accountingEntries.entries()) {
    if (!isWanted(accountingEntry)) continue;
    // A holding that is partly active is two accounting entries of one part; what nobody holds is a part for each state.
    const key = accountingEntry.pod === null ? `${index}` : `${accountingEntry.device}/${accountingEntry.pod}`;
    const known = parts.get(key);
    if (known === undefined) {
      parts.set(key, newPart(accountingEntry, context));
      continue;
    }
    known.gpus += accountingEntry.gpus;
    known.states[accountingEntry.state] = (known.states[accountingEntry.state] ?? 0) + accountingEntry.gpus;
  }
  const sorted = sortByTexts([...parts.values()], (part) => [
    part.node,
    part.uuid ?? "\uffff",
    part.gpuInstance ?? "",
    part.holder?.namespace ?? "",
    part.holder?.pod ?? "",
  ]);
  return [...sorted];
}

function newPart(accountingEntry: AccountingEntry, context: ReasonContext): ExplainedPart {
  const { snapshot } = context;
  const device = accountingEntry.device === null ? undefined : snapshot.devices[accountingEntry.device];
  const pod = accountingEntry.pod === null ? undefined : snapshot.pods[accountingEntry.pod];
  const holding = device?.holders.find((holder) => holder.pod === accountingEntry.pod);
  return {
    node: accountingEntry.node,
    uuid: device?.uuid ?? null,
    gpuInstance: device?.gpuInstance ?? null,
    profile: device?.profile ?? null,
    model: device?.model ?? accountingEntry.pool,
    gpus: accountingEntry.gpus,
    states: { [accountingEntry.state]: accountingEntry.gpus },
    holder: pod === undefined ? null : { namespace: pod.namespace, pod: pod.name, team: pod.team },
    knownFrom: holding === undefined ? null : holdingSources[holding.source],
    estimated: accountingEntry.estimated,
    activity: pod === undefined ? (device?.activity ?? null) : (holding?.activity ?? null),
    signal: device?.signal ?? null,
    why: reasonOf(accountingEntry, context),
  };
}
