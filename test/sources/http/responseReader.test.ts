import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { cutAt, goodAnswers, oddAnswers, readPieces, readWhole, wideLimits } from "./answers.ts";

const ok = "HTTP/1.1 200 OK\r\n";

describe("whole answers", () => {
  test.each([
    ["a length", `${ok}Content-Length: 3\r\n\r\nabc`, "abc", true],
    ["a length of nothing", `${ok}Content-Length: 0\r\n\r\n`, "", true],
    ["blanks around a value", `${ok}content-length:\t 3 \t\r\n\r\nabc`, "abc", true],
    ["no reason", "HTTP/1.1 200\r\nContent-Length: 3\r\n\r\nabc", "abc", true],
    [
      "chunks",
      `${ok}Transfer-Encoding: Chunked\r\n\r\n3\r\nabc\r\n00a;x=y\r\n0123456789\r\n0\r\n\r\n`,
      "abc0123456789",
      true,
    ],
    ["trailers", `${ok}Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\nX-Sum: 1\r\n\r\n`, "a", true],
    ["the end of the connection", `${ok}\r\nabc`, "abc", false],
    ["connection: close", `${ok}Connection: x, Close\r\nContent-Length: 3\r\n\r\nabc`, "abc", false],
    ["HTTP/1.0", "HTTP/1.0 200 OK\r\nContent-Length: 3\r\n\r\nabc", "abc", false],
    [
      "answers that go before",
      `HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 x\r\na: b\r\n\r\n${ok}Content-Length: 1\r\n\r\na`,
      "a",
      true,
    ],
    ["bytes after the end: of no further use", `${ok}Content-Length: 3\r\n\r\nabcHTTP/1.1 200 OK\r\n`, "abc", false],
  ])("%s", (_case, text, body, keepsAlive) => {
    expect(readWhole(text)).toEqual({ body, code: null, keepsAlive, said: null });
  });
});

describe("answers that two readers could end at different places, and other malformed ones", () => {
  test.each([
    ["a length and chunks", `${ok}Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n`],
    ["two lengths", `${ok}Content-Length: 3\r\nContent-Length: 4\r\n\r\nabcd`],
    ["the same length twice", `${ok}Content-Length: 3\r\nContent-Length: 3\r\n\r\nabc`],
    ["a list of lengths", `${ok}Content-Length: 3, 3\r\n\r\nabc`],
    ["a signed length", `${ok}Content-Length: +3\r\n\r\nabc`],
    ["a negative length", `${ok}Content-Length: -1\r\n\r\n`],
    ["a hexadecimal length", `${ok}Content-Length: 0x3\r\n\r\nabc`],
    ["an empty length", `${ok}Content-Length:\r\n\r\n`],
    ["a length beyond all numbers", `${ok}Content-Length: 99999999999999999999\r\n\r\n`],
    ["another transfer coding", `${ok}Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n`],
    ["chunked twice", `${ok}Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`],
    ["chunks in HTTP/1.0", "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"],
    ["a blank before the colon", `${ok}Content-Length : 3\r\n\r\nabc`],
    ["a folded line", `${ok}X: a\r\n b\r\nContent-Length: 3\r\n\r\nabc`],
    ["a line without a colon", `${ok}nonsense\r\nContent-Length: 3\r\n\r\nabc`],
    ["a line end of LF alone", `${ok}X: a\nContent-Length: 3\r\n\r\nabc`],
    ["LF alone throughout", "HTTP/1.1 200 OK\nContent-Length: 3\n\nabc"],
    ["CR in a value", `${ok}X: a\rb\r\nContent-Length: 3\r\n\r\nabc`],
    ["NUL in a value", `${ok}X: a\0b\r\nContent-Length: 3\r\n\r\nabc`],
    ["a blank line first", `\r\n${ok}Content-Length: 3\r\n\r\nabc`],
    ["another protocol", "ICY 200 OK\r\n\r\nabc"],
    ["HTTP/2", "HTTP/2 200\r\n\r\nabc"],
    ["a status of two digits", "HTTP/1.1 20 OK\r\n\r\nabc"],
    ["another protocol hereafter", "HTTP/1.1 101 Switching Protocols\r\n\r\n"],
    ["a chunk without a size", `${ok}Transfer-Encoding: chunked\r\n\r\n\r\nabc\r\n0\r\n\r\n`],
    ["a chunk size with a blank", `${ok}Transfer-Encoding: chunked\r\n\r\n3 \r\nabc\r\n0\r\n\r\n`],
    ["a chunk size with a sign", `${ok}Transfer-Encoding: chunked\r\n\r\n+3\r\nabc\r\n0\r\n\r\n`],
    ["a chunk size beyond all numbers", `${ok}Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\nabc`],
    ["a chunk line that ends with LF", `${ok}Transfer-Encoding: chunked\r\n\r\n3\nabc\r\n0\r\n\r\n`],
    ["a chunk longer than it says", `${ok}Transfer-Encoding: chunked\r\n\r\n3\r\nabcd\r\n0\r\n\r\n`],
    ["a control character in an extension", `${ok}Transfer-Encoding: chunked\r\n\r\n3;a\nb\r\nabc\r\n0\r\n\r\n`],
    ["endless extensions", `${ok}Transfer-Encoding: chunked\r\n\r\n3;${"a".repeat(20_000)}\r\nabc\r\n0\r\n\r\n`],
    ["a malformed trailer", `${ok}Transfer-Encoding: chunked\r\n\r\n0\r\nno trailer\r\n\r\n`],
  ])("%s", (_case, text) => {
    expect(readWhole(text)).toMatchObject({ body: null, code: "protocol" });
    expect(readPieces([...Buffer.from(text, "latin1")].map((byte) => Buffer.of(byte)))).toMatchObject({
      code: "protocol",
    });
  });

  test.each([
    ["nothing at all", ""],
    ["half a head", `${ok}Content-Le`],
    ["half a length", `${ok}Content-Length: 3\r\n\r\nab`],
    ["half a chunk", `${ok}Transfer-Encoding: chunked\r\n\r\n3\r\nab`],
    ["no last chunk", `${ok}Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n`],
    ["no end of trailers", `${ok}Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n`],
  ])("cut: %s", (_case, text) => {
    expect(readWhole(text)).toMatchObject({ body: null, code: "reset" });
  });
});

describe("limits", () => {
  const limits = { ...wideLimits, maxBytes: 4 };

  test.each([
    ["a length", `${ok}Content-Length: 5\r\n\r\n`],
    ["a chunk", `${ok}Transfer-Encoding: chunked\r\n\r\n5\r\n`],
    ["chunks together", `${ok}Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\n`],
    ["what comes", `${ok}\r\nabcde`],
  ])("%s beyond the cap is refused as soon as it is known", (_case, text) => {
    expect(readWhole(text, limits)).toMatchObject({ code: "too_large" });
  });

  test("a body of just the cap is taken", () => {
    expect(readWhole(`${ok}\r\nabcd`, limits)).toMatchObject({ body: "abcd" });
    expect(readWhole(`${ok}Content-Length: 4\r\n\r\nabcd`, limits)).toMatchObject({ body: "abcd" });
  });

  test.each([
    ["one head", `${ok}X: ${"a".repeat(20_000)}\r\n\r\n`],
    ["a head that never ends", `${ok}X: ${"a".repeat(20_000)}`],
    ["heads that go before", "HTTP/1.1 100 Continue\r\nX: y\r\n\r\n".repeat(1000)],
    ["trailers", `${ok}Transfer-Encoding: chunked\r\n\r\n0\r\n${"a: b\r\n".repeat(4000)}\r\n`],
  ])("headers are bounded: %s", (_case, text) => {
    expect(readWhole(text)).toMatchObject({ code: "too_large" });
  });

  test("the start of an error's body is kept where that is asked for, however the body ends", () => {
    const error = "HTTP/1.1 400 Bad Request\r\nContent-Length: 9\r\n\r\n";
    const keeping = { ...wideLimits, errorBytes: 4 };
    expect(readWhole(`${error}reasoning`, keeping)).toMatchObject({ code: "status", said: "reas" });
    expect(readWhole(`${error}re`, keeping)).toMatchObject({ code: "status", said: "re" });
    expect(readWhole(`${error}reasoning`)).toMatchObject({ code: "status", said: null });
    const broken = "HTTP/1.1 500 x\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nrexx";
    expect(readWhole(broken, keeping)).toMatchObject({ code: "status", said: "re" });
  });
});

describe("whatever comes", () => {
  const cuts = fc.array(fc.nat(2000), { maxLength: 12 });

  test("a good answer gives its body, in whatever pieces", () => {
    fc.assert(
      fc.property(goodAnswers, cuts, ({ text, body }, places) => {
        expect(readPieces(cutAt(Buffer.from(text, "latin1"), places))).toMatchObject({ body, code: null });
      }),
      { seed: 1, numRuns: 1000 },
    );
  });

  test("the pieces change nothing about an odd one", () => {
    fc.assert(
      fc.property(oddAnswers, cuts, (text, places) => {
        const bytes = Buffer.from(text, "latin1");
        expect(readPieces(cutAt(bytes, places))).toEqual({ ...readWhole(text), keepsAlive: expect.any(Boolean) });
      }),
      { seed: 2, numRuns: 2000 },
    );
  });

  test("large bodies in many pieces grow their buffer", () => {
    const body = Buffer.alloc(900_000, "0123456789");
    const pieces = Array.from({ length: 30 }, (_unused, index) => body.subarray(index * 30_000, (index + 1) * 30_000));
    for (const framing of ["Connection: close", "Content-Length: 900000"]) {
      const read = readPieces([Buffer.from(`${ok}${framing}\r\n\r\n`), ...pieces]);
      expect(read.body === body.toString("latin1")).toBe(true);
    }
  });
});
