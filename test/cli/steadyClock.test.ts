import { expect, it } from "vitest";
import { createSteadyClock } from "../../cli/steadyClock.ts";

it("goes on evenly when the wall clock is set, until it takes its time over", () => {
  let wall = 1000;
  let monotonic = 5;
  const clock = createSteadyClock(
    () => wall,
    () => monotonic,
  );
  wall += 30 + 7200;
  monotonic += 30;
  expect(clock.now()).toBe(1030);
  clock.setToWall();
  expect(clock.now()).toBe(8230);
  wall -= 7200;
  monotonic += 10;
  expect(clock.now()).toBe(8240);
});
