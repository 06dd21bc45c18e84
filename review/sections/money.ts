import type { Costs } from "../document/parts.ts";
import { type MoneyUnit, moneyFigures } from "../words/figure.ts";
import { unknownCell } from "../words/figureText.ts";
import { joined, type Piece } from "./section.ts";

/** An amount of money in all its currencies; what has no price is unknown. */
export function money(measure: string, costs: Costs, per: MoneyUnit["per"] = null): readonly Piece[] {
  const figures = moneyFigures(measure, costs, per);
  return figures.length === 0 ? [unknownCell] : joined(figures, " + ");
}

/** Sum of money for an order alone: currencies are compared as if they were worth the same. */
export const weight = (costs: Costs): number => Object.values(costs).reduce((sum, amount) => sum + amount, 0);
