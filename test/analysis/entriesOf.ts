import { AccountingEntries, EntryWriter } from "../../exporter/analysis/accountingEntries.ts";
import type { AccountingEntry } from "../../exporter/analysis/accountingEntry.ts";

/** Accounting entries that a test wrote down. */
export function entriesOf(list: readonly AccountingEntry[]): AccountingEntries {
  const nodes = [...new Set(list.map(({ node }) => node))];
  const writer = new EntryWriter(nodes, list.length);
  for (const { gpus, state, node, pool, device, pod, estimated, cause, idleReason } of list) {
    const place = { node: nodes.indexOf(node), pool, device: device ?? -1 };
    const reason = {
      ...(cause === undefined ? {} : { cause }),
      ...(idleReason === undefined ? {} : { idleReason }),
    };
    const hasReason = Object.keys(reason).length > 0;
    writer.add(place, { pod: pod ?? -1, estimated }, state, gpus, hasReason ? reason : null);
  }
  return new AccountingEntries(writer);
}
