import { expect, it } from "vitest";
import { timeAnswers } from "../../../exporter/sources/kubernetes/answerTimes.ts";
import type { ApiClient } from "../../../exporter/sources/kubernetes/apiClient.ts";
import { createFakeClock } from "./fakeClock.ts";

/** A client whose requests wait until they are let go, the oldest first. */
function waitingClient() {
  const waiting: (() => void)[] = [];
  const answer = () =>
    new Promise<{ readonly ok: false; readonly message: string }>((resolve) => {
      waiting.push(() => resolve({ ok: false, message: "no" }));
    });
  const inner: ApiClient = { get: answer, open: answer, close: async () => {} };
  return { inner, arrive: () => waiting.shift()?.() };
}

const options = { accept: "", signal: new AbortController().signal, deadlineSeconds: 30, maxBytes: 1 };

it("remembers the slowest answer of two minutes, and counts one under way", async () => {
  const clock = createFakeClock();
  const { inner, arrive } = waitingClient();
  const { client, slowestSeconds } = timeAnswers(inner, clock);
  const takes = async (seconds: number): Promise<void> => {
    const request = client.get("/", options);
    clock.advance(seconds);
    arrive();
    await request;
  };
  expect(slowestSeconds()).toBeNull();
  await takes(7);
  await takes(1);
  await takes(2);
  expect(slowestSeconds()).toBe(7);
  clock.advance(117);
  expect(slowestSeconds()).toBe(7);
  clock.advance(1);
  expect(slowestSeconds()).toBe(2);
  const slow = client.open("/", options);
  clock.advance(9);
  expect(slowestSeconds()).toBe(9);
  arrive();
  await slow;
  expect(slowestSeconds()).toBe(9);
  clock.advance(121);
  expect(slowestSeconds()).toBeNull();
});

it("does not count what Fairlead computes while an answer is under way", async () => {
  const clock = createFakeClock();
  const { inner, arrive } = waitingClient();
  const { client, slowestSeconds } = timeAnswers(inner, clock);
  const request = client.open("/", options);
  clock.compute(20);
  clock.advance(2);
  expect(slowestSeconds()).toBe(2);
  arrive();
  await request;
  expect(slowestSeconds()).toBe(2);
  // Its age is one of the wall: it is forgotten on time, whatever computes meanwhile.
  clock.compute(121);
  expect(slowestSeconds()).toBeNull();
});
