import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { alertNames } from "../../../alerts/alertList.ts";
import { readRunbooks } from "../../../cli/runbooks.ts";
import type { RunningServer } from "../../../exporter/publish/http/server.ts";
import { scriptedAdviser, startAdvised } from "../adviceServer.ts";

let server: RunningServer;
beforeAll(async () => {
  const runbooks = new Map([...readRunbooks(), ["hostile", "# <b>\n\n<script>alert(1)</script>\n"]]);
  server = await startAdvised(scriptedAdviser().adviser, { users: {}, runbooks });
});
afterAll(async () => await server.close());

async function pageAt(path: string): Promise<{ readonly status: number; readonly text: string }> {
  const answer = await fetch(`${server.url}${path}`);
  return { status: answer.status, text: await answer.text() };
}

describe("the runbooks of a running Fairlead", () => {
  it("has a list of the runbooks of all alerts", async () => {
    const { status, text } = await pageAt("/runbooks");
    expect(status).toBe(200);
    for (const name of alertNames)
      expect(text).toContain(`<li><a href="/runbooks/${name.toLowerCase()}">${name}</a>: `);
  });

  it.each(alertNames.map((name) => [name]))("shows that of %s, with its queries and steps", async (name) => {
    const { status, text } = await pageAt(`/runbooks/${name.toLowerCase()}`);
    expect(status).toBe(200);
    expect(text).toContain(`<h1>${name}</h1>`);
    for (const heading of ["Meaning", "Who acts", "What to do"]) expect(text).toContain(`<h2>${heading}</h2>`);
    expect(text).toMatch(/<pre><code class="language-(promql|sh)">/);
    expect(text).not.toMatch(/^#+ |```/m);
  });

  it("takes the address of the file, too, and knows no other", async () => {
    expect((await pageAt("/runbooks/GpuTeamStarved.md")).status).toBe(200);
    for (const path of ["/runbooks/nothing", "/runbooks/..%2Fpackage.json", "/runbooks/constructor"])
      expect((await pageAt(path)).status, path).toBe(404);
  });

  it("escapes what a runbook has of HTML", async () => {
    const { text } = await pageAt("/runbooks/hostile");
    expect(text).toContain("<h1>&lt;b&gt;</h1>");
    expect(text).toContain("&lt;script&gt;alert(1)&lt;/script&gt;");
    expect(text).not.toContain("<script>");
  });
});
