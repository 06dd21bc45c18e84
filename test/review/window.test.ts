import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isoDay } from "../../exporter/kernel/isoTime.ts";
import {
  type Days,
  type ParsedDays,
  parseWindow,
  shownWindow,
  type WindowText,
  weekOf,
  windowsBefore,
} from "../../review/window.ts";

const day = 86_400;
const at = (text: string): number => Date.parse(text) / 1000;
const none: WindowText = { week: null, month: null, from: null, to: null };
/** A Saturday, the seventh of November. */
const now = at("2026-11-07T14:25:30Z");

function daysOf(text: Partial<WindowText>, moment = now): Days {
  const parsed = parseWindow({ ...none, ...text }, moment);
  if (!parsed.ok) throw new Error(parsed.error);
  return parsed.days;
}

/** `kind label from to`, the end as the day that is not in it. */
const shown = ({ kind, label, from, to }: Days): string => `${kind} ${label} ${isoDay(from)} ${isoDay(to)}`;

function refusal(parsed: ParsedDays): string {
  if (parsed.ok) throw new Error(`${parsed.days.label} is accepted`);
  return `${parsed.error} ${parsed.nextStep}`;
}

describe("the week of a moment", () => {
  // From calendars; ISO 8601's own examples among them.
  it.each([
    ["1977-01-01", "1976-W53"],
    ["1977-01-03", "1977-W01"],
    ["1978-01-02", "1978-W01"],
    ["1980-12-28", "1980-W52"],
    ["1981-12-31", "1981-W53"],
    ["2020-12-31", "2020-W53"],
    ["2021-01-03", "2020-W53"],
    ["2021-01-04", "2021-W01"],
    ["2024-12-30", "2025-W01"],
    ["2025-12-28", "2025-W52"],
    ["2025-12-29", "2026-W01"],
    ["2026-01-01", "2026-W01"],
    ["2026-11-09", "2026-W46"],
    ["2026-12-31", "2026-W53"],
    ["2027-01-03", "2026-W53"],
    ["2027-01-04", "2027-W01"],
    ["1970-01-01", "1970-W01"],
  ])("%s is in %s", (text, label) => {
    const week = weekOf(at(text));
    expect(week.label).toBe(label);
    expect(weekOf(at(`${text}T23:59:59Z`))).toEqual(week);
    expect(week.from).toBeLessThanOrEqual(at(text));
    expect(week.to).toBeGreaterThan(at(text));
  });

  it("begins on a Monday, is seven days long, and has the number of its Thursday's place in the year", () => {
    const weekday = new Intl.DateTimeFormat("en-US", { weekday: "long", timeZone: "UTC" });
    fc.assert(
      fc.property(fc.integer({ min: at("1970-01-05"), max: at("2100-12-31") }), (moment) => {
        const { label, from, to } = weekOf(moment);
        expect(weekday.format(new Date(from * 1000))).toBe("Monday");
        expect([from <= moment, moment < to, to - from]).toEqual([true, true, 7 * day]);
        const thursday = new Date((from + 3 * day) * 1000);
        const newYear = Date.UTC(thursday.getUTCFullYear(), 0, 1) / 1000;
        const number = Math.floor((from + 3 * day - newYear) / (7 * day)) + 1;
        expect(label).toBe(`${thursday.getUTCFullYear()}-W${String(number).padStart(2, "0")}`);
      }),
      { seed: 7 },
    );
  });
});

describe("a window as it is asked for", () => {
  it.each<readonly [Partial<WindowText>, string]>([
    [{}, "week 2026-W44 2026-10-26 2026-11-02"],
    [{ week: "last" }, "week 2026-W44 2026-10-26 2026-11-02"],
    [{ week: "current" }, "week 2026-W45 2026-11-02 2026-11-09"],
    [{ week: "2026-W45" }, "week 2026-W45 2026-11-02 2026-11-09"],
    [{ week: "2026W01" }, "week 2026-W01 2025-12-29 2026-01-05"],
    [{ week: "2020-W53" }, "week 2020-W53 2020-12-28 2021-01-04"],
    [{ month: "" }, "month 2026-10 2026-10-01 2026-11-01"],
    [{ month: "2026-11" }, "month 2026-11 2026-11-01 2026-12-01"],
    [{ month: "2024-02" }, "month 2024-02 2024-02-01 2024-03-01"],
    [{ month: "2025-12" }, "month 2025-12 2025-12-01 2026-01-01"],
    [{ from: "2026-10-05", to: "2026-10-12" }, "span 2026-10-05 to 2026-10-11 2026-10-05 2026-10-12"],
    [{ from: "2026-10-05", to: "2026-10-06" }, "span 2026-10-05 2026-10-05 2026-10-06"],
    [{ from: "2026-11-05T00:00Z" }, "span 2026-11-05 to 2026-11-07 2026-11-05 2026-11-08"],
    [{ to: "2026-10-08T00:00:00Z" }, "span 2026-10-01 to 2026-10-07 2026-10-01 2026-10-08"],
    [{ from: "2024-02-29", to: "2025-03-01" }, "span 2024-02-29 to 2025-02-28 2024-02-29 2025-03-01"],
  ])("%j", (text, wanted) => {
    expect(shown(daysOf(text))).toBe(wanted);
  });

  it.each<readonly [Partial<WindowText>, RegExp]>([
    [{ week: "2026-W54" }, /"2026-W54" is no week .*2026-W46/],
    [{ week: "2025-W53" }, /"2025-W53" is no week/],
    [{ week: "2026-W00" }, /is no week/],
    [{ week: "next" }, /"next" is no week/],
    [{ week: "2026-W46" }, /2026-W46 begins in the future/],
    [{ month: "2026-13" }, /"2026-13" is no month .*2026-10/],
    [{ month: "October" }, /is no month/],
    [{ month: "2026-12" }, /2026-12 begins in the future/],
    [{ from: "2026-02-30" }, /"2026-02-30" is no day .*2026-11-09/],
    [{ from: "2026-11-05T10:00:00Z" }, /is no day .*whole days/],
    [{ from: "2026-11-05", to: "soon" }, /"soon" is no day/],
    [{ from: "2026-11-05", to: "2026-11-05" }, /ends \(2026-11-05\) before it begins/],
    [{ from: "2024-01-01", to: "2025-01-02" }, /longer than 366 days/],
    [{ from: "2026-11-08", to: "2026-11-09" }, /begins in the future/],
    [{ week: "2026-W44", month: "2026-10" }, /several windows/],
    [{ week: "2026-W44", to: "2026-11-01" }, /several windows/],
  ])("refuses %j", (text, why) => {
    expect(refusal(parseWindow({ ...none, ...text }, now))).toMatch(why);
  });

  it("shows no endless text", () => {
    expect(refusal(parseWindow({ ...none, week: "x".repeat(10_000) }, now)).length).toBeLessThan(200);
  });
});

describe("the windows before", () => {
  it.each<readonly [Partial<WindowText>, readonly string[]]>([
    [{ week: "2021-W01" }, ["2020-W52", "2020-W53"]],
    [{ month: "2026-02" }, ["2025-12", "2026-01"]],
    [{ from: "2026-10-05", to: "2026-10-08" }, ["2026-09-29 to 2026-10-01", "2026-10-02 to 2026-10-04"]],
  ])("of %j", (text, labels) => {
    expect(windowsBefore(daysOf(text), 2).map(({ label }) => label)).toEqual(labels);
    expect(windowsBefore(daysOf(text), 0)).toEqual([]);
  });

  it("join without a gap, the oldest first, and are of the same kind", () => {
    const moment = fc.integer({ min: at("2000-01-01"), max: at("2090-01-01") });
    const kind = fc.constantFrom("week", "month", "span");
    fc.assert(
      fc.property(moment, kind, fc.integer({ min: 1, max: 26 }), (today, of, count) => {
        const text = of === "week" ? { week: "current" } : of === "month" ? { month: "" } : { to: isoDay(today) };
        const days = daysOf(text, today);
        const all = [...windowsBefore(days, count), days];
        expect(all).toHaveLength(count + 1);
        for (const [i, { to, kind: its }] of all.slice(0, -1).entries())
          expect([to, its]).toEqual([all[i + 1]?.from, days.kind]);
      }),
      { seed: 7 },
    );
  });
});

describe("the window as a review shows it", () => {
  it("is over at its end, and not before", () => {
    const days = daysOf({ week: "2026-W44" });
    const isOver = (moment: number): boolean => shownWindow(days, moment).isOver;
    expect([isOver(days.to - 1), isOver(days.to)]).toEqual([false, true]);
    expect(shownWindow(days, now)).toEqual({
      kind: "week",
      label: "2026-W44",
      isOver: true,
      from: "2026-10-26T00:00:00Z",
      to: "2026-11-02T00:00:00Z",
    });
  });
});
