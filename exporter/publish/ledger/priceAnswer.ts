import { type PriceAnswer, type PriceRow, priceFilters } from "../../accounts/ledger/priceQuery.ts";
import { csvLine, csvNumberCell, csvTextCell } from "../../kernel/csvLine.ts";
import { isoDay, isoTime, shownMinute } from "../../kernel/isoTime.ts";
import { left, minuteOf, plainText, right, tableLines } from "../terminal/columns.ts";

/** The record of an answer about prices. */
export function priceAnswerRecord({ from, to, rows, totalRows }: PriceAnswer) {
  return {
    of: "prices",
    from: isoTime(from),
    to: isoTime(to),
    total: totalRows,
    items: rows.map((row) => ({ ...row, ...timesOf(row) })),
  };
}

/** Prices as RFC 4180 text with a heading; unknown values are empty. */
export function priceAnswerCsv({ rows }: PriceAnswer): string {
  const lines = rows.map((row) => {
    const { dated, begins, ends } = timesOf(row);
    return [
      ...priceFilters.map((name) => csvTextCell(row[name])),
      csvNumberCell(row.perGpuHour),
      ...[dated, begins, ends].map(csvTextCell),
    ];
  });
  const heading = [...priceFilters, "perGpuHour", "dated", "begins", "ends"];
  return [heading, ...lines].map(csvLine).join("");
}

/** Prices as lines for a terminal. */
export function priceAnswerLines({ from, to, rows, totalRows }: PriceAnswer): readonly string[] {
  const columns = [
    ...["pool", "node pool", "instance", "paid as"].map(left),
    right("per GPU-hour"),
    ...["basis", "source", "dated", "used from", "to"].map(left),
  ];
  const lines = tableLines(
    columns,
    rows.map((row) => {
      const { dated, begins, ends } = timesOf(row);
      const price = row.perGpuHour === null ? "no price" : `${Number(row.perGpuHour.toFixed(4))} ${row.currency ?? ""}`;
      return [
        ...[row.pool, row.nodePool, row.instanceType, row.capacityType].map(cell),
        plainText(price, 24),
        ...[row.basis, row.source].map(cell),
        dated?.slice(0, 10) ?? "–",
        shownMinute(begins),
        ends === null ? "now" : shownMinute(ends),
      ];
    }),
  );
  const rest = totalRows - rows.length;
  return [
    `Prices that were used from ${minuteOf(from)} to ${minuteOf(to)} (UTC)`,
    "",
    ...(totalRows === 0 ? ["  Nothing is recorded there."] : lines),
    ...(rest > 0 ? [`  and ${rest} more; --limit shows more, --output csv is for spreadsheets`] : []),
  ];
}

function timesOf({ dated, begins, ends }: PriceRow) {
  return {
    dated: dated === null ? null : isoDay(dated),
    begins: isoTime(begins),
    ends: ends === null ? null : isoTime(ends),
  };
}

const cell = (value: string | null): string => (value === null ? "–" : plainText(value, 32));
