import { describe, expect, test } from "vitest";
import { createBytesMemo } from "../../exporter/kernel/bytesMemo.ts";
import { failCursor, protobufCursor } from "../../exporter/kernel/protobuf.ts";

/** What is read is a new object each time; text with `!` is no message. */
function memoOf(limit?: number) {
  let reads = 0;
  const read = createBytesMemo((cursor, end) => {
    reads += 1;
    const text = cursor.bytes.toString("latin1", cursor.position, end);
    if (text.includes("!")) failCursor(cursor);
    return { text };
  }, limit);
  return {
    reads: () => reads,
    read: (text: string) => {
      const cursor = protobufCursor(Buffer.from(`<${text}>`, "latin1"));
      cursor.position = 1;
      return { value: read(cursor, text.length + 1), failed: cursor.failed };
    },
  };
}

describe("what was read from bytes", () => {
  test("is the same for the same bytes, and another for others", () => {
    const memo = memoOf();
    const { value } = memo.read("a\u00ff");
    expect(value).toEqual({ text: "a\u00ff" });
    expect(memo.read("a\u00ff").value).toBe(value);
    expect(memo.read("a\u00fe").value).toEqual({ text: "a\u00fe" });
    expect(memo.reads()).toBe(2);
  });

  test("is not kept where the cursor failed", () => {
    const memo = memoOf();
    expect(memo.read("a!").failed).toBe(true);
    expect(memo.read("a!").failed).toBe(true);
    expect(memo.reads()).toBe(2);
  });

  test("is not kept of long parts", () => {
    const memo = memoOf();
    const long = "x".repeat(1025);
    expect(memo.read(long).value).toEqual(memo.read(long).value);
    expect(memo.reads()).toBe(2);
  });

  test("is forgotten when there is too much of it", () => {
    const memo = memoOf(2);
    for (const text of ["a", "b", "c", "a"]) expect(memo.read(text).value).toEqual({ text });
    expect(memo.reads()).toBe(4);
  });
});
