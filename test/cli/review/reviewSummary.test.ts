import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { filledLedger } from "../../review/filledLedger.ts";
import { fairlead } from "../adviseAgainst.ts";

const folder = mkdtempSync(path.join(tmpdir(), "fairlead-review-summary-"));
const file = (name: string): string => path.join(folder, name);
const ledger = file("ledger.db");
const closing: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  const db = await filledLedger(ledger, 1, [{ seed: 1, prefix: "", currencies: ["USD"], hasLateWorkloads: false }]);
  db.close();
});
afterEach(async () => {
  await Promise.all(closing.splice(0).map((close) => close()));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** `fairlead review` of one day of the ledger. */
const review = (...args: readonly string[]) =>
  fairlead("review", "--ledger", ledger, "--compare", "0", "--from", "2026-10-27", "--to", "2026-10-28", ...args);

describe("the summary for a webhook", () => {
  async function webhook(status: number) {
    const received: unknown[] = [];
    const server: Server = createServer((request, response) => {
      let body = "";
      request.on("data", (part: Buffer) => {
        body += part.toString();
      });
      request.on("end", () => {
        received.push(JSON.parse(body));
        response.writeHead(status).end("no_team");
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    closing.push(() => new Promise((resolve) => server.close(resolve)));
    const address = server.address();
    const port = typeof address === "object" ? address?.port : 0;
    const secret = file(`webhook-${port}`);
    writeFileSync(secret, `http://127.0.0.1:${port}/services/T0/B0/very-secret\n`);
    return { received, secret };
  }

  it("is posted after the review is written, with a link to it", async () => {
    const { received, secret } = await webhook(200);
    const more = ["--post-summary-file", secret, "--link", "https://pages.example/review"];
    const { code, out, err } = await review(...more);
    expect(code).toBe(0);
    expect(out).toMatch(/^# /);
    expect(err).toContain("fairlead: posted the summary\n");
    expect(received).toEqual([{ text: expect.stringContaining("https://pages.example/review") }]);
    expect(JSON.stringify(received).length).toBeLessThan(10_000);
    expect(err + out).not.toContain("secret");
  });

  it.each([
    ["slack", { text: expect.stringContaining("GPU capacity review"), blocks: expect.any(Array) }],
    ["teams", { type: "message", attachments: [expect.any(Object)] }],
  ])("is posted as %s takes it", async (format, body) => {
    const { received, secret } = await webhook(200);
    const { code, err } = await review("--post-summary-file", secret, "--post-format", format);
    expect([code, err]).toEqual([0, expect.stringContaining("posted the summary")]);
    expect(received).toEqual([body]);
    expect(await review("--post-summary-file", secret, "--post-format", "irc")).toMatchObject({ code: 2 });
  });

  it.each([500, 404])(
    "that answers with status %i fails after the review, and its address is in no message",
    async (status) => {
      const { secret } = await webhook(status);
      const { code, out, err } = await review("--post-summary-file", secret);
      expect(code).toBe(1);
      expect(out).toMatch(/^# /);
      expect(err).toContain(
        `the review is written, but its summary is not posted: the webhook answered with status ${status}`,
      );
      expect(err).toContain(`Next step: check the address in ${secret}.`);
      expect(err).not.toContain("very-secret");
    },
  );

  it.each([["http://127.0.0.1:1/very-secret"], ["very-secret"], [""]])(
    "that cannot be reached, or is none: %j",
    async (address) => {
      const secret = file("webhook-nowhere");
      writeFileSync(secret, address);
      const { code, err } = await review("--post-summary-file", secret);
      expect(code).toBe(1);
      expect(err).toContain("its summary is not posted: the webhook could not be reached");
      expect(err).not.toContain("very-secret");
      const missing = await review("--post-summary-file", file("no-such-file"));
      expect(missing).toMatchObject({ code: 1, err: expect.stringContaining("Next step: name a file") });
    },
  );
});
