import { hashSync } from "bcryptjs";
import { expect, test } from "vitest";
import { createPasswords } from "../../../exporter/publish/front/passwords.ts";

test("passwords are compared while this thread goes on", async () => {
  const compare = createPasswords();
  const hash = hashSync("right", 9);
  let isOver = false;
  const asked = compare({ password: "right", hash }).finally(() => {
    isOver = true;
  });
  let turns = 0;
  for (; !isOver; turns += 1) await new Promise((resolve) => setImmediate(resolve));
  expect(await asked).toBe(true);
  expect(turns).toBeGreaterThan(5);
});

test("each question gets its own answer, however many are asked at once", async () => {
  const compare = createPasswords();
  const hash = hashSync("right", 4);
  const asked = ["right", "wrong", "right", "right", "wrong", "", "right"];
  const answers = await Promise.all(asked.map((password) => compare({ password, hash })));
  expect(answers).toEqual(asked.map((password) => password === "right"));
});

test("after a wrong password the next one is compared when the thread has rested for as long as that took", async () => {
  let now = 0;
  const rests: { readonly milliseconds: number; readonly end: () => void }[] = [];
  const compare = createPasswords({
    now: () => {
      now += 70;
      return now;
    },
    wait: (milliseconds) => new Promise<void>((resolve) => rests.push({ milliseconds, end: resolve })),
  });
  const hash = hashSync("right", 4);
  expect(await compare({ password: "right", hash })).toBe(true);
  expect(rests).toEqual([]);
  expect(await compare({ password: "wrong", hash })).toBe(false);
  expect(rests.map(({ milliseconds }) => milliseconds)).toEqual([70]);
  const asked = now;
  const next = compare({ password: "right", hash });
  for (let turns = 0; turns < 20; turns += 1) await new Promise((resolve) => setImmediate(resolve));
  expect(now).toBe(asked);
  rests[0]?.end();
  expect(await next).toBe(true);
});

test("a hash that cannot be compared ends the thread and rejects; the next question has a new one", async () => {
  const compare = createPasswords();
  const broken = `$2b$99$${"a".repeat(53)}`;
  await expect(compare({ password: "x", hash: broken })).rejects.toThrow(
    "the thread that compares passwords has ended",
  );
  expect(await compare({ password: "right", hash: hashSync("right", 4) })).toBe(true);
});
