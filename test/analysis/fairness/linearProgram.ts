/** A sum of variables (by number) and a constant. */
export interface Sum {
  readonly constant: number;
  readonly of: ReadonlyMap<number, number>;
}

export const zero: Sum = { constant: 0, of: new Map() };
export const constant = (amount: number): Sum => ({ constant: amount, of: new Map() });
export const variable = (number: number): Sum => ({ constant: 0, of: new Map([[number, 1]]) });

/** one + factor x other. */
export function plus(one: Sum, other: Sum, factor = 1): Sum {
  const of = new Map(one.of);
  for (const [number, times] of other.of) of.set(number, (of.get(number) ?? 0) + factor * times);
  return { constant: one.constant + factor * other.constant, of };
}

export const total = (sums: readonly Sum[]): Sum => sums.reduce((all, one) => plus(all, one), zero);

/** What may not be more than 0. */
export type Constraint = Sum;

export const atMost = (one: Sum, other: Sum | number): Constraint =>
  plus(one, typeof other === "number" ? constant(other) : other, -1);
export const atLeast = (one: Sum, other: Sum | number): Constraint => plus(zero, atMost(one, other), -1);

const nothing = 1e-10;
const rounding = 1e-7;

/** The points that keep all constraints, none of their variables below 0. */
export interface Region {
  /** The largest value of a sum over the region. It throws where there is none. */
  maximise(sum: Sum): number;
}

/**
 * The simplex method on a dense dictionary: basic variables written as sums of the others. Every answer is proved before it is
 * given out: the point keeps all constraints, and the prices of the constraints (the dual) bound the sum by the same value. So
 * nobody has to trust the method. Throws where no point keeps all constraints.
 */
export function region(variables: number, constraints: readonly Constraint[]): Region {
  const height = constraints.length;
  // Row i: basic[i] = value[i] - sum over j of row[i][j] x others[j]. Numbers from `variables` on are slacks of constraints.
  const basic = constraints.map((_, i) => variables + i);
  const others = Array.from({ length: variables }, (_, j) => j);
  const value = Float64Array.from(constraints, (one) => -one.constant);
  const rows = constraints.map(({ of }) => {
    const row = new Float64Array(variables);
    for (const [j, times] of of) row[j] = times;
    return row;
  });
  const cost = new Float64Array(variables);
  let objective = 0;

  function pivot(at: number, entering: number): void {
    const row = rows[at] ?? new Float64Array();
    const by = row[entering] ?? 1;
    for (let j = 0; j < variables; j++) row[j] = (row[j] ?? 0) / by;
    row[entering] = 1 / by;
    value[at] = (value[at] ?? 0) / by;
    const amount = value[at] ?? 0;
    for (let i = 0; i < height; i++) {
      const other = rows[i];
      const factor = other?.[entering] ?? 0;
      if (i === at || other === undefined || factor === 0) continue;
      other[entering] = 0;
      for (let j = 0; j < variables; j++) other[j] = (other[j] ?? 0) - factor * (row[j] ?? 0);
      value[i] = (value[i] ?? 0) - factor * amount;
    }
    const factor = cost[entering] ?? 0;
    cost[entering] = 0;
    for (let j = 0; j < variables; j++) cost[j] = (cost[j] ?? 0) - factor * (row[j] ?? 0);
    objective += factor * amount;
    [basic[at], others[entering]] = [others[entering] ?? -1, basic[at] ?? -1];
  }

  /** Least numbers first: slower, but it never goes round in a circle (Bland's rule). */
  const isSlow = (step: number): boolean => step > 50 + 2 * (height + variables);

  function findPoint(): void {
    for (let step = 0; ; step++) {
      if (step > 20_000) throw new Error("no point found");
      let at = -1;
      for (let i = 0; i < height; i++) {
        if ((value[i] ?? 0) >= -nothing) continue;
        const isBetter = isSlow(step) ? (basic[i] ?? 0) < (basic[at] ?? 0) : (value[i] ?? 0) < (value[at] ?? 0);
        if (at < 0 || isBetter) at = i;
      }
      if (at < 0) return;
      let entering = -1;
      for (let j = 0; j < variables; j++) {
        const slope = rows[at]?.[j] ?? 0;
        if (slope >= -nothing * 10) continue;
        const isBetter = isSlow(step)
          ? (others[j] ?? 0) < (others[entering] ?? 0)
          : slope < (rows[at]?.[entering] ?? 0);
        if (entering < 0 || isBetter) entering = j;
      }
      if (entering < 0) {
        if ((value[at] ?? 0) > -rounding) {
          value[at] = 0;
          continue;
        }
        throw new Error(`no point keeps all constraints: ${value[at]} is missing`);
      }
      pivot(at, entering);
    }
  }

  function climb(): void {
    for (let step = 0; ; step++) {
      if (step > 20_000) throw new Error("no largest value found");
      let entering = -1;
      for (let j = 0; j < variables; j++) {
        if ((cost[j] ?? 0) <= nothing) continue;
        const isBetter = isSlow(step)
          ? (others[j] ?? 0) < (others[entering] ?? 0)
          : (cost[j] ?? 0) > (cost[entering] ?? 0);
        if (entering < 0 || isBetter) entering = j;
      }
      if (entering < 0) return;
      let [at, least] = [-1, Number.POSITIVE_INFINITY];
      for (let i = 0; i < height; i++) {
        const slope = rows[i]?.[entering] ?? 0;
        if (slope <= nothing * 10) continue;
        const ratio = Math.max(0, value[i] ?? 0) / slope;
        if (ratio > least + nothing) continue;
        const isTie = ratio > least - nothing;
        const isBetter = isSlow(step) ? (basic[i] ?? 0) < (basic[at] ?? 0) : slope > (rows[at]?.[entering] ?? 0);
        if (isTie && !isBetter) continue;
        [at, least] = [i, Math.min(ratio, least)];
      }
      if (at < 0) throw new Error("the sum has no largest value");
      pivot(at, entering);
    }
  }

  function prove(sum: Sum): void {
    const point = new Float64Array(variables);
    for (const [i, number] of basic.entries()) if (number < variables) point[number] = value[i] ?? 0;
    const at = ({ of, constant: offset }: Sum): number => {
      let all = offset;
      for (const [j, times] of of) all += times * (point[j] ?? 0);
      return all;
    };
    const prices = new Float64Array(height);
    for (const [j, number] of others.entries()) if (number >= variables) prices[number - variables] = -(cost[j] ?? 0);
    const left = new Float64Array(variables);
    for (const [j, times] of sum.of) left[j] = times;
    let bound = sum.constant;
    for (const [i, one] of constraints.entries()) {
      const price = prices[i] ?? 0;
      if (price < -rounding || at(one) > rounding) throw new Error("the answer breaks a constraint");
      bound -= price * one.constant;
      for (const [j, times] of one.of) left[j] = (left[j] ?? 0) - price * times;
    }
    const isBound = left.every((times) => times <= rounding) && point.every((amount) => amount >= -rounding);
    if (!isBound || Math.abs(bound - at(sum)) > rounding) throw new Error("there may be a larger value");
  }

  findPoint();
  return {
    maximise(sum) {
      cost.fill(0);
      objective = sum.constant;
      for (const [j, number] of others.entries()) cost[j] = sum.of.get(number) ?? 0;
      for (const [i, number] of basic.entries()) {
        const times = sum.of.get(number) ?? 0;
        if (times === 0) continue;
        objective += times * (value[i] ?? 0);
        for (let j = 0; j < variables; j++) cost[j] = (cost[j] ?? 0) - times * (rows[i]?.[j] ?? 0);
      }
      climb();
      prove(sum);
      return objective;
    },
  };
}
