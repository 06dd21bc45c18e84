// One token of PromQL: a string, a name (those of recorded series have colons), or one other character.
const tokens = /"(?:[^"\\]|\\.)*"|[a-zA-Z_:][a-zA-Z0-9_:]*|[\s\S]/g;

/** An expression with another name for the label `cluster`; names of series and texts in quotes are kept. */
export function renameClusterLabel(expression: string, name: string): string {
  return expression.replaceAll(tokens, (token) => (token === "cluster" ? name : token));
}

/** A template of an annotation with another name for the label `cluster`, in its queries, too. */
export function renameInTemplate(template: string, name: string): string {
  if (name === "cluster") return template;
  return template
    .replaceAll("$labels.cluster ", `$labels.${name} `)
    .replaceAll("$labels.cluster)", `$labels.${name})`)
    .replaceAll(/`([^`]*)`/g, (_, query: string) => `\`${renameClusterLabel(query, name)}\``);
}
