import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createDeadlines } from "../../../exporter/sources/http/deadlines.ts";

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
});

afterEach(() => {
  vi.useRealTimers();
});

test("each item has its own full time, with one timer for all", () => {
  const expired: string[] = [];
  const deadlines = createDeadlines<string>(10, (item) => expired.push(item));
  deadlines.add("a");
  vi.advanceTimersByTime(4000);
  deadlines.add("b");
  deadlines.add("c");
  expect(vi.getTimerCount()).toBe(1);
  vi.advanceTimersByTime(5999);
  expect(expired).toEqual([]);
  vi.advanceTimersByTime(2);
  expect(expired).toEqual(["a"]);
  deadlines.remove("b");
  expect(deadlines.items()).toEqual(["c"]);
  vi.advanceTimersByTime(4001);
  expect(expired).toEqual(["a", "c"]);
  expect(vi.getTimerCount()).toBe(0);
});

test("what begins after a quiet time has its full time too", () => {
  const expired: string[] = [];
  const deadlines = createDeadlines<string>(10, (item) => expired.push(item));
  deadlines.add("a");
  deadlines.remove("a");
  vi.advanceTimersByTime(9000);
  deadlines.add("b");
  vi.advanceTimersByTime(9999);
  expect(expired).toEqual([]);
  vi.advanceTimersByTime(2);
  expect(expired).toEqual(["b"]);
});
