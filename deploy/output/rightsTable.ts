import { configMapReads, type Read, type ReadReason, readsOfSources } from "../rights/reads.ts";

/** A table of Markdown: the purpose of each line of the role, and what a holder of the token could read with it. */
export function rightsTable(): string {
  const lines = [
    "| group | resource | verbs | switched on by | what it is for | what whoever holds the token can read by it |",
    "|---|---|---|---|---|---|",
    ...readsOfSources().flatMap(rowsOf),
    ...configMapReads.map(
      ({ path, reason }) =>
        `| \`core\` | \`configmaps\`, one by name | get, in its namespace | \`config.${path.join(".")}\` | ${reason.purpose} | ${reason.exposes} |`,
    ),
  ];
  return lines.join("\n");
}

/** The rows of a line of the role: one for each resource, or one for all where they are read for the same reason. */
function rowsOf({ group, resources, verbs, right, reasons }: Read): readonly string[] {
  const row = (of: readonly string[], { purpose, exposes }: ReadReason): string => {
    const names = of.map((resource) => `\`${resource}\``).join(", ");
    const by = right === null ? "always" : `\`rbac.optional.${right}\``;
    return `| \`${group === "" ? "core" : group}\` | ${names} | ${verbs.join(", ")} | ${by} | ${purpose} | ${exposes} |`;
  };
  const [first] = reasons;
  if (first !== undefined && reasons.every((reason) => reason === first)) return [row(resources, first)];
  return resources.flatMap((resource, index) => {
    const reason = reasons[index];
    return reason === undefined ? [] : [row([resource], reason)];
  });
}
