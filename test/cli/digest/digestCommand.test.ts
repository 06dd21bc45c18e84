import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import { buildPublication } from "../../../exporter/publish/publication.ts";
import { scriptedAdviser, startAdvised } from "../../publish/adviceServer.ts";
import { type IdlePart, idleMoment } from "../../publish/idleMoment.ts";
import { health } from "../../publish/moment.ts";
import { fairlead } from "../adviseAgainst.ts";

const folder = mkdtempSync(path.join(tmpdir(), "fairlead-digest-"));
const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  await Promise.all(closing.splice(0).map((close) => close()));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const days = 86_400;
const big: IdlePart = {
  team: "ads",
  name: "big",
  model: "H100",
  gpus: 8,
  seconds: 3 * days,
  price: { currency: "USD", perGpuHour: 2 },
};
const search: IdlePart = { ...big, team: "search", name: "crawl", gpus: 1 };

async function exporter(parts: readonly IdlePart[]): Promise<string> {
  const limits = { teams: 10, series: 1000 };
  const publication = buildPublication({ analysis: idleMoment(parts), health: health(), limits }, "");
  const server = await startAdvised(scriptedAdviser().adviser, { latest: () => publication, users: {} });
  closing.push(server.close);
  return server.url;
}

/** A webhook that answers with these statuses in turn, then with the last one. */
async function webhook(...statuses: readonly number[]) {
  const received: unknown[] = [];
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (part: Buffer) => {
      body += part.toString();
    });
    request.on("end", () => {
      const status = statuses[received.length] ?? statuses.at(-1) ?? 200;
      received.push(JSON.parse(body));
      response.writeHead(status, { "retry-after": "0" }).end("no_team");
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closing.push(() => new Promise((resolve) => server.close(resolve)));
  const address = server.address();
  return { received, url: `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}/very-secret\n` };
}

/** A folder of channels, and a configuration with them. */
function channels(addresses: Readonly<Record<string, string>>, digest: Readonly<Record<string, unknown>>) {
  const at = mkdtempSync(path.join(folder, "channels-"));
  const secrets = path.join(at, "secrets");
  mkdirSync(secrets);
  for (const [name, address] of Object.entries(addresses)) writeFileSync(path.join(secrets, name), address);
  const config = path.join(at, "fairlead.yaml");
  writeFileSync(config, JSON.stringify({ cluster: "harbor", digest }));
  return { config: ["--config.file", config], post: ["--config.file", config, "--post", "--channels", secrets] };
}
const byTeam = { channels: [{ channel: "ads-gpus", teams: ["ads"] }], defaultChannel: "all" };

describe("fairlead digest", () => {
  it("prints what it would post, and posts nothing", async () => {
    const hook = await webhook(200);
    const { config } = channels({ "ads-gpus": hook.url, all: hook.url }, byTeam);
    const { code, out, err } = await fairlead("digest", "--url", await exporter([big, search]), ...config);
    expect([code, err]).toEqual([0, ""]);
    expect(out).toContain("team ads -> channel ads-gpus\n  Idle GPUs of team ads in harbor: 8 GPUs, $ 384 a day\n");
    expect(out).toContain("team search -> channel all\n");
    expect(out).toContain("Nothing is posted. Next step: --post --channels FOLDER posts them.\n");
    expect(hook.received).toEqual([]);
  });

  it("needs no configuration for that", async () => {
    const { code, out } = await fairlead("digest", "--url", await exporter([big]));
    expect([code, out]).toEqual([0, expect.stringContaining("team ads -> no channel\n  Idle GPUs of team ads: 8")]);
  });

  it.each([
    [
      "text",
      { text: expect.stringMatching(/^Idle GPUs of team ads in harbor: 8 GPUs.*All of it: https:\/\/x\.example\n$/s) },
    ],
    ["slack", { text: expect.stringContaining("Idle GPUs"), blocks: expect.any(Array) }],
    ["teams", { type: "message", attachments: [expect.any(Object)] }],
  ])("posts one message for each team to its own channel, as %s takes it", async (format, message) => {
    const [ads, all] = [await webhook(200), await webhook(200)];
    const { post } = channels({ "ads-gpus": ads.url, all: all.url }, byTeam);
    const more = ["--post-format", format, "--link", "https://x.example"];
    const said = await fairlead("digest", "--url", await exporter([big, search]), ...post, ...more);
    expect(said.code, said.err).toBe(0);
    expect(ads.received).toEqual([message]);
    expect(all.received).toHaveLength(1);
    expect(JSON.stringify(ads.received)).not.toContain("crawl");
    expect(said.err).toBe(
      "fairlead: posted the digest of team ads to channel ads-gpus\nfairlead: posted the digest of team search to channel all\n",
    );
    expect(said.out + said.err).not.toContain("very-secret");
  });

  it("posts nothing where nothing is idle", async () => {
    const hook = await webhook(200);
    const { post } = channels({ all: hook.url }, { defaultChannel: "all" });
    const none = await fairlead("digest", "--url", await exporter([{ ...big, state: "active" }]), ...post);
    expect(none).toMatchObject({ code: 0, out: "No workload has had idle GPUs for 24 h (digest.minIdleHours).\n" });
    const short = await fairlead("digest", "--url", await exporter([{ ...big, seconds: 7200 }]), ...post);
    expect(short).toMatchObject({
      code: 0,
      out: expect.stringContaining("1 workload has GPUs that are idle for less."),
    });
    expect(hook.received).toEqual([]);
  });

  it("says who is not written to because no channel is configured", async () => {
    const hook = await webhook(200);
    const { post } = channels({ "ads-gpus": hook.url }, { channels: byTeam.channels });
    const { code, err } = await fairlead("digest", "--url", await exporter([big, search]), ...post);
    expect(code).toBe(0);
    expect(err).toContain("not posted, because no channel is configured for team search\n");
    expect(hook.received).toHaveLength(1);
  });

  it("posts what it can, and fails with what it could not; no address is in a message", async () => {
    const hook = await webhook(200);
    for (const bad of [(await webhook(500)).url, "http://127.0.0.1:1/very-secret", "very-secret", null]) {
      const given = bad === null ? { all: hook.url } : { "ads-gpus": bad, all: hook.url };
      const { post } = channels(given, byTeam);
      const { code, out, err } = await fairlead("digest", "--url", await exporter([big, search]), ...post);
      expect(code).toBe(1);
      expect(err).toContain("the digest of team ads is not posted: ");
      expect(err).toContain("Next step: check the address in ");
      expect(err).toContain("posted the digest of team search to channel all\n");
      expect(out + err).not.toContain("very-secret");
    }
    expect(hook.received).toHaveLength(4);
  });

  it("waits once where a webhook asks it to", async () => {
    const [busy, closed] = [await webhook(429, 200), await webhook(429)];
    const { post } = channels({ "ads-gpus": busy.url, all: closed.url }, byTeam);
    const { code, err } = await fairlead("digest", "--url", await exporter([big, search]), ...post);
    expect([code, busy.received.length, closed.received.length]).toEqual([1, 2, 2]);
    expect(err).toContain("team search is not posted: the webhook answered with status 429");
  });

  it("refuses to post without channels, and says what to give", async () => {
    const { config } = channels({}, byTeam);
    expect(await fairlead("digest", "--post", "--channels", folder)).toMatchObject({
      code: 1,
      err: expect.stringContaining("digest.channels or digest.defaultChannel"),
    });
    expect(await fairlead("digest", "--post", ...config)).toMatchObject({
      code: 1,
      err: expect.stringContaining("Give --channels FOLDER"),
    });
    const nobody = await fairlead("digest", "--url", "http://127.0.0.1:1");
    expect(nobody).toMatchObject({ code: 1, err: expect.stringContaining("Next step: Start it") });
  });
});
