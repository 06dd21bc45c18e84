/** A rule by the name of the series that it writes. */
export interface NamedRule {
  readonly record: string;
  readonly expr: string;
}

/** Names that could be those of series, in the order of an expression. */
const names = /[a-zA-Z_:][a-zA-Z0-9_:]*/g;

/**
 * The rules in passes: each reads only series that are scraped or written in an earlier pass. Within one evaluation a
 * Prometheus reads what the rules before have just written; who evaluates a rule over weeks at once must go by these.
 */
export function rulePasses<Rule extends NamedRule>(rules: readonly Rule[]): readonly (readonly Rule[])[] {
  const passOf = new Map<string, number>();
  const passes: Rule[][] = [];
  for (const rule of rules) {
    const read = (rule.expr.match(names) ?? []).map((name) => passOf.get(name) ?? -1);
    const pass = Math.max(-1, ...read) + 1;
    passOf.set(rule.record, pass);
    passes[pass] = [...(passes[pass] ?? []), rule];
  }
  return passes;
}
