import { hashSync } from "bcryptjs";
import { expect, test } from "vitest";
import { createPasswords } from "../../../exporter/publish/front/passwords.ts";

test("passwords are compared while this thread goes on", async () => {
  const compare = createPasswords();
  const hash = hashSync("right", 9);
  await compare({ password: "right", hash });
  let ticks = 0;
  const timer = setInterval(() => {
    ticks += 1;
  }, 1);
  const from = performance.now();
  expect(await compare({ password: "right", hash })).toBe(true);
  const took = performance.now() - from;
  clearInterval(timer);
  expect(took).toBeGreaterThan(10);
  expect(ticks).toBeGreaterThan(5);
});

test("each question gets its own answer, however many are asked at once", async () => {
  const compare = createPasswords();
  const hash = hashSync("right", 4);
  const asked = ["right", "wrong", "right", "right", "wrong", "", "right"];
  const answers = await Promise.all(asked.map((password) => compare({ password, hash })));
  expect(answers).toEqual(asked.map((password) => password === "right"));
});

test("after a wrong password the thread rests as long as that took: guessing takes half of a core at most", async () => {
  const compare = createPasswords();
  const hash = hashSync("right", 7);
  await compare({ password: "right", hash });
  const secondsFor = async (password: string): Promise<number> => {
    const from = performance.now();
    for (let guess = 0; guess < 8; guess += 1) await compare({ password, hash });
    return performance.now() - from;
  };
  const [right, wrong] = [await secondsFor("right"), await secondsFor("wrong")];
  expect(wrong).toBeGreaterThan(1.4 * right);
});

test("a hash that cannot be compared ends the thread and rejects; the next question has a new one", async () => {
  const compare = createPasswords();
  const broken = `$2b$99$${"a".repeat(53)}`;
  await expect(compare({ password: "x", hash: broken })).rejects.toThrow(
    "the thread that compares passwords has ended",
  );
  expect(await compare({ password: "right", hash: hashSync("right", 4) })).toBe(true);
});
