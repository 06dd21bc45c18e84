import { expect, test } from "vitest";
import { createLoginBackOff } from "../../../exporter/publish/front/basicAuth.ts";

test("five failures are free; then each makes its address wait twice as long, up to five seconds", () => {
  const backOff = createLoginBackOff();
  const waits = Array.from({ length: 12 }, () => {
    backOff.failed("a", 100);
    return backOff.waitOf("a", 100);
  });
  expect(waits).toEqual([0, 0, 0, 0, 0.5, 1, 2, 4, 5, 5, 5, 5]);
  expect(backOff.waitOf("a", 104)).toBe(1);
  expect(backOff.waitOf("a", 105)).toBe(0);
  expect(backOff.waitOf("b", 100)).toBe(0);
});

test("failures of long ago count no more, those of a minute ago do", () => {
  const backOff = createLoginBackOff();
  for (let failure = 0; failure < 8; failure += 1) backOff.failed("a", failure);
  backOff.failed("a", 67);
  expect(backOff.waitOf("a", 67)).toBe(5);
  backOff.failed("a", 128);
  expect(backOff.waitOf("a", 128)).toBe(0);
});

test("of many addresses the one that failed longest ago is forgotten", () => {
  const backOff = createLoginBackOff();
  for (let failure = 0; failure < 8; failure += 1) {
    backOff.failed("first", 100);
    backOff.failed("second", 100);
  }
  for (let address = 0; address < 9_999; address += 1) backOff.failed(`other-${address}`, 100);
  expect([backOff.waitOf("first", 100), backOff.waitOf("second", 100)]).toEqual([0, 4]);
});
