import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createServerTime } from "../../../cli/demo/serverTime.ts";

const page = (lines: readonly string[]): string => `${lines.join("\n")}\n`;

describe("a page of metrics in the time of a server", () => {
  test("counters of time grow as fast as they really do, however unevenly the cycles come", () => {
    const inServerTime = createServerTime(6);
    const name = 'fairlead_gpu_seconds_total{state="active"}';
    // 100 GPUs are active all the time: an hour has passed when the server sees the first page.
    const asked = [
      { simulatedAt: 3600, at: 1000 },
      { simulatedAt: 3630, at: 1005 },
      { simulatedAt: 3660, at: 1012 },
    ].map((when) => inServerTime({ ...when, text: page([`${name} ${when.simulatedAt * 100}`]) }));
    expect(asked).toEqual([page([`${name} 60000`]), page([`${name} 60500`]), page([`${name} 61200`])]);
  });

  test("a rate is the true one at any pace", () => {
    const steps = fc.array(fc.tuple(fc.integer({ min: 1, max: 900 }), fc.integer({ min: 1, max: 60 })), {
      minLength: 1,
      maxLength: 20,
    });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 1000 }), fc.integer({ min: 1, max: 500 }), steps, (speed, gpus, all) => {
        const inServerTime = createServerTime(speed);
        const valueAt = (simulatedAt: number, at: number): number =>
          Number(
            inServerTime({ simulatedAt, at, text: `fairlead_covered_seconds_total ${simulatedAt * gpus}` })
              .split(" ")
              .at(-1),
          );
        let [simulatedAt, at] = [3600, 0];
        const first = valueAt(simulatedAt, at);
        let last = first;
        for (const [simulated, passed] of all) {
          simulatedAt += simulated;
          at += passed;
          last = valueAt(simulatedAt, at);
        }
        expect((last - first) / at).toBeCloseTo(gpus, 6);
      }),
    );
  });

  test("a series that comes later was counted at the speed of the play", () => {
    const inServerTime = createServerTime(10);
    inServerTime({ simulatedAt: 0, at: 0, text: "" });
    const text = "fairlead_cost_total 50";
    expect(inServerTime({ simulatedAt: 30, at: 5, text })).toBe("fairlead_cost_total 5");
  });

  test("a moment is the one at which it was played", () => {
    const text = "fairlead_last_cycle_timestamp_seconds 5400";
    const inServerTime = createServerTime(6);
    expect(inServerTime({ simulatedAt: 6000, at: 2_000_000, text })).toBe(
      "fairlead_last_cycle_timestamp_seconds 1999900",
    );
  });

  test("gauges, counts of things, histograms and what is of no catalogue stay as they are", () => {
    const text = page([
      "# HELP fairlead_gpu_seconds_total Fairlead says 7",
      "# TYPE fairlead_gpu_seconds_total counter",
      'fairlead_gpus{pool="a } 3"} 8',
      "fairlead_cycles_total 120",
      'fairlead_queue_wait_seconds_bucket{le="30"} 4',
      "process_cpu_seconds_total 12.5",
    ]);
    const inServerTime = createServerTime(6);
    expect(inServerTime({ simulatedAt: 30, at: 5, text })).toBe(text);
    expect(inServerTime({ simulatedAt: 60, at: 10, text })).toBe(text);
  });
});
