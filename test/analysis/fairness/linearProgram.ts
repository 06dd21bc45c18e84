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

const at = (amounts: Float64Array, i: number): number => amounts[i] ?? 0;

function columnOf(length: number, of: Sum["of"], column = new Float64Array(length)): Float64Array {
  for (const [j, times] of of) column[j] = times;
  return column;
}

/** One array for all rows: memory for each alone took most of the time. */
function rowsOf(variables: number, constraints: readonly Constraint[]): readonly Float64Array[] {
  const all = new Float64Array(variables * constraints.length);
  return constraints.map(({ of }, i) => columnOf(variables, of, all.subarray(i * variables, (i + 1) * variables)));
}

/** The best of the first so many numbers that are open; -1 where none is. */
function bestOf(count: number, isOpen: (i: number) => boolean, isBetter: (i: number, than: number) => boolean): number {
  let best = -1;
  for (let i = 0; i < count; i++) if (isOpen(i) && (best < 0 || isBetter(i, best))) best = i;
  return best;
}

/** row -= factor x other. */
function subtract(row: Float64Array, factor: number, other: Float64Array): void {
  for (let j = 0; j < row.length; j++) row[j] = (row[j] ?? 0) - factor * (other[j] ?? 0);
}

/**
 * The simplex method on a dense dictionary: basic variables written as sums of the others. Every answer is proved before it is
 * given out: the point keeps all constraints, and the prices of the constraints (the dual) bound the sum by the same value. So
 * nobody has to trust the method. Throws where no point keeps all constraints.
 */
export function region(variables: number, constraints: readonly Constraint[]): Region {
  const height = constraints.length;
  const none = new Float64Array(variables);
  // Row i: basic[i] = value[i] - sum over j of row[j] x others[j]. Numbers from `variables` on are slacks of constraints.
  const basic = Float64Array.from(constraints, (_, i) => variables + i);
  const others = none.map((_, j) => j);
  const value = Float64Array.from(constraints, (one) => -one.constant);
  const rows = rowsOf(variables, constraints);
  const slopes = new Float64Array(height);
  const most = new Float64Array(height);
  const cost = new Float64Array(variables);
  let objective = 0;

  function pivot(leaving: number, entering: number): void {
    const row = rows[leaving] ?? none;
    const by = at(row, entering);
    row[entering] = 1;
    for (let j = 0; j < variables; j++) row[j] = at(row, j) / by;
    const amount = at(value, leaving) / by;
    for (const [i, other] of rows.entries()) {
      const factor = i === leaving ? 0 : at(other, entering);
      if (factor === 0) continue;
      other[entering] = 0;
      subtract(other, factor, row);
      value[i] = at(value, i) - factor * amount;
    }
    value[leaving] = amount;
    const factor = at(cost, entering);
    cost[entering] = 0;
    subtract(cost, factor, row);
    objective += factor * amount;
    [basic[leaving], others[entering]] = [at(others, entering), at(basic, leaving)];
  }

  /** Least numbers first: slower, but it never goes round in a circle (Bland's rule). */
  const isSlow = (step: number): boolean => {
    if (step > 20_000) throw new Error("no end is in sight");
    return step > 50 + 2 * (height + variables);
  };

  function findPoint(): void {
    for (let step = 0; ; step++) {
      const [keyOfRow, keyOfColumn] = isSlow(step) ? [basic, others] : [value, null];
      const leaving = bestOf(
        height,
        (i) => at(value, i) < -nothing,
        (i, than) => at(keyOfRow, i) < at(keyOfRow, than),
      );
      if (leaving < 0) return;
      const slopes = rows[leaving] ?? none;
      const key = keyOfColumn ?? slopes;
      const entering = bestOf(
        variables,
        (j) => at(slopes, j) < -nothing * 10,
        (j, than) => at(key, j) < at(key, than),
      );
      if (entering >= 0) pivot(leaving, entering);
      else if (at(value, leaving) > -rounding) value[leaving] = 0;
      else throw new Error(`no point keeps all constraints: ${value[leaving]} is missing`);
    }
  }

  function climb(): void {
    for (let step = 0; ; step++) {
      const slow = isSlow(step);
      const entering = bestOf(
        variables,
        (j) => at(cost, j) > nothing,
        (j, than) => (slow ? at(others, j) < at(others, than) : at(cost, j) > at(cost, than)),
      );
      if (entering < 0) return;
      for (const [i, row] of rows.entries()) {
        slopes[i] = at(row, entering);
        most[i] = Math.max(0, at(value, i)) / at(slopes, i);
      }
      const leaving = bestOf(
        height,
        (i) => at(slopes, i) > nothing * 10,
        (i, than) => {
          const more = at(most, i) - at(most, than);
          if (Math.abs(more) > nothing) return more < 0;
          return slow ? at(basic, i) < at(basic, than) : at(slopes, i) > at(slopes, than);
        },
      );
      if (leaving < 0) throw new Error("the sum has no largest value");
      pivot(leaving, entering);
    }
  }

  function prove(sum: Sum): void {
    // The first of them are variables, the others slacks of constraints.
    const amounts = new Float64Array(variables + height);
    for (const [i, number] of basic.entries()) amounts[number] = at(value, i);
    const savings = new Float64Array(variables + height);
    for (const [j, number] of others.entries()) savings[number] = -at(cost, j);
    const point = amounts.subarray(0, variables);
    const prices = savings.subarray(variables);
    const amountOf = ({ of, constant: offset }: Sum): number => {
      let all = offset;
      for (const [j, times] of of) all += times * at(point, j);
      return all;
    };
    // What is left of the sum when the constraints are taken from it at their prices.
    const left = columnOf(variables, sum.of);
    let bound = sum.constant;
    for (const [i, one] of constraints.entries()) {
      const price = at(prices, i);
      bound -= price * one.constant;
      for (const [j, times] of one.of) left[j] = at(left, j) - price * times;
    }
    const isMore = left.some((times) => times > rounding) || prices.some((price) => price < -rounding);
    const isKept =
      constraints.every((one) => amountOf(one) <= rounding) && point.every((amount) => amount >= -rounding);
    if (!isKept) throw new Error("the answer breaks a constraint");
    if (isMore || Math.abs(bound - amountOf(sum)) > rounding) throw new Error("there may be a larger value");
  }

  findPoint();
  return {
    maximise(sum) {
      objective = sum.constant;
      for (const [j, number] of others.entries()) cost[j] = sum.of.get(number) ?? 0;
      for (const [i, number] of basic.entries()) {
        const times = sum.of.get(number) ?? 0;
        if (times === 0) continue;
        objective += times * at(value, i);
        subtract(cost, times, rows[i] ?? none);
      }
      climb();
      prove(sum);
      return objective;
    },
  };
}
