import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type RequestListener } from "node:http";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { noAdvice } from "../../../exporter/model/recommendation.ts";
import { scriptedAdviser, startAdvised } from "../../publish/adviceServer.ts";
import { severalAdvice } from "../../publish/severalAdvice.ts";
import { adviseAgainst, fairlead } from "../adviseAgainst.ts";

let folder = "";
let passwordFile = "";
const closing: (() => Promise<unknown>)[] = [];
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), "fairlead-advise-"));
  passwordFile = path.join(folder, "password");
  writeFileSync(passwordFile, "secret\n");
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));
afterEach(async () => {
  await Promise.all(closing.splice(0).map((close) => close()));
});

describe("the exporter that it asks", () => {
  test("may want a password; without one, and with a wrong one, it says which options", async () => {
    const server = await startAdvised(scriptedAdviser(severalAdvice).adviser);
    closing.push(() => server.close());
    const ask = (...args: string[]) => fairlead("advise", "--url", server.url, ...args);
    const good = await ask("--username", "kim", "--password-file", passwordFile);
    expect(good).toMatchObject({ code: 0, out: expect.stringContaining("TO DO NOW (3)") });
    for (const args of [[], ["--username", "lee", "--password-file", passwordFile]]) {
      const { code, err } = await ask(...args);
      expect(code).toBe(1);
      expect(err).toMatch(/^fairlead: 127\.0\.0\.1:\d+ asks for a name and a password\n/);
      expect(err).toContain("Next step: Give --username and --password-file.");
    }
    const { err } = await ask("--username", "kim", "--password-file", path.join(folder, "none"));
    expect(err).toContain("ENOENT");
  });

  test("may not be there: it says what to do", async () => {
    const { code, out, err } = await fairlead("advise", "--url", "http://127.0.0.1:1");
    expect({ code, out }).toEqual({ code: 1, out: "" });
    expect(err).toContain("fairlead: http://127.0.0.1:1: ");
    expect(err).toContain("Next step: Start it with fairlead serve, or give its address with --url");
    expect(await fairlead("advise", "--url", "nowhere")).toMatchObject({
      code: 1,
      err: expect.stringContaining("Next step: "),
    });
  });

  test("may have no answers yet", async () => {
    const { code, err } = await adviseAgainst(noAdvice, [], { latest: () => null });
    expect(code).toBe(1);
    expect(err).toBe(
      "fairlead: no answers yet: the first cycle is not complete\nNext step: See /readyz for what is missing.\n",
    );
  });

  async function stranger(listener: RequestListener) {
    const server = createServer(listener);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    closing.push(() => new Promise((resolve) => server.close(resolve)));
    const address = server.address();
    return fairlead("advise", "--url", `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`);
  }

  test("may be of an earlier version, which knows no recommendations", async () => {
    const { code, err } = await stranger((_request, response) => {
      response.writeHead(404, { "content-type": "application/json" });
      response.end('{"error":"there is nothing at this path","nextStep":"See /api/v1 for what there is."}');
    });
    expect(code).toBe(1);
    expect(err).toMatch(/has nothing at \/api\/v1\/recommendations: it is a Fairlead of another version\n/);
    expect(err).toContain("Next step: Use the fairlead of the exporter's own version");
  });

  test("may be of a later version, whose records say more than this one knows, or be something else", async () => {
    const answers = [
      '{"at":"2026-11-21T04:00:00Z","total":1,"limit":1,"offset":0,"items":[{"id":"r-1","kind":"migrate"}]}',
      "<html>It works!</html>",
      "[]",
    ];
    for (const answer of answers) {
      const { code, err } = await stranger((_request, response) => response.end(answer));
      expect(code).toBe(1);
      expect(err).toMatch(/answered with status 200 and something that is not understood/);
      expect(err).toContain(
        "Next step: Check that --url is the address of a Fairlead. Use the fairlead of the exporter's",
      );
    }
  });
});
