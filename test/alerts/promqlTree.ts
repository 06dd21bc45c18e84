import { parser } from "@prometheus-io/lezer-promql";

/** A selector as it is in an expression. */
export interface FoundSelector {
  readonly name: string;
  readonly labels: readonly string[];
  /** Function that takes it as a range; `null`: an instant selector. */
  readonly rangeFunction: string | null;
}

/** What a rule's expression is made of. */
export interface PromqlTree {
  readonly errors: number;
  readonly selectors: readonly FoundSelector[];
  /** Labels in `by`, of each aggregation; `null` where it has none, or `without`. */
  readonly aggregations: readonly (readonly string[] | null)[];
  /** Labels in `on`, of each operator that says how it matches; `null` for `ignoring`. */
  readonly joins: readonly (readonly string[] | null)[];
}

type SyntaxNode = ReturnType<typeof parser.parse>["topNode"];

/** Reads an expression by Prometheus' own grammar. */
export function readPromql(text: string): PromqlTree {
  const selectors: FoundSelector[] = [];
  const aggregations: (readonly string[] | null)[] = [];
  const joins: (readonly string[] | null)[] = [];
  let errors = 0;
  const textOf = (node: SyntaxNode): string => text.slice(node.from, node.to);
  const labelsOf = (node: SyntaxNode | null): string[] => (node?.getChildren("LabelName") ?? []).map(textOf);
  parser.parse(text).iterate({
    enter: ({ node }) => {
      if (node.type.isError) errors += 1;
      if (node.name === "VectorSelector") {
        const name = node.getChild("Identifier");
        const matchers = node.getChild("LabelMatchers")?.getChildren("UnquotedLabelMatcher") ?? [];
        selectors.push({
          name: name === null ? "" : textOf(name),
          labels: matchers.flatMap((matcher) => labelsOf(matcher)),
          rangeFunction: rangeFunction(node, textOf),
        });
      }
      if (node.name === "AggregateExpr") {
        const modifier = node.getChild("AggregateModifier");
        aggregations.push(modifier?.getChild("By") ? labelsOf(modifier.getChild("GroupingLabels")) : null);
      }
      if (node.name === "MatchingModifierClause") {
        joins.push(node.getChild("On") ? labelsOf(node.getChild("GroupingLabels")) : null);
      }
    },
  });
  return { errors, selectors, aggregations, joins };
}

function rangeFunction(selector: SyntaxNode, textOf: (node: SyntaxNode) => string): string | null {
  if (selector.parent?.name !== "MatrixSelector") return null;
  let node: SyntaxNode | null = selector.parent;
  while (node !== null && node.name !== "FunctionCall") node = node.parent;
  const name = node?.getChild("FunctionIdentifier") ?? null;
  return name === null ? "" : textOf(name);
}
