import type { Costs } from "../document/parts.ts";
import { type MoneyUnit, moneyFigures } from "../words/figure.ts";
import { unknownCell } from "../words/figureText.ts";
import { joined, type Piece } from "./section.ts";

/** An amount of money in all its currencies; it is shown as unknown where there is no price. */
export function money(measure: string, costs: Costs, per: MoneyUnit["per"] = null): readonly Piece[] {
  const figures = moneyFigures(measure, costs, per);
  return figures.length === 0 ? [unknownCell] : joined(figures, " + ");
}

/** A sum of money for sorting alone: currencies are added up as if they were worth the same. */
export const weight = (costs: Costs): number => Object.values(costs).reduce((sum, amount) => sum + amount, 0);
