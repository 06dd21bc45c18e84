import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { run } from "../../cli/run.ts";
import { type GivenValues, staticRelease } from "../../deploy/output/staticFiles.ts";
import { plainTerminal } from "../../exporter/publish/terminal/layout.ts";
import { type Helm, startHelm } from "./deployHelm.ts";

let helm: Helm;

beforeAll(async () => {
  helm = await startHelm();
});

afterAll(async () => await helm?.stop());

const cronJob = z.object({
  spec: z.object({
    schedule: z.string(),
    jobTemplate: z.object({
      spec: z.object({
        template: z.object({
          spec: z.object({
            automountServiceAccountToken: z.boolean(),
            containers: z.tuple([z.object({ args: z.array(z.string()) })]),
          }),
        }),
      }),
    }),
  }),
});

async function reviewOf(values: GivenValues): Promise<z.output<typeof cronJob>["spec"]> {
  const objects = await helm.objects(values, { ...staticRelease, apiVersions: [] });
  return cronJob.parse(objects.find(({ kind }) => kind === "CronJob")).spec;
}

const everything = {
  review: {
    enabled: true,
    link: "https://fairlead.example.org/review?week=last",
    webhook: { secretName: "hook" },
    user: { name: "reader", secretName: "reader" },
    caSecret: { name: "ca" },
  },
  web: { existingSecret: "web", tls: true },
};

describe("the CronJob that writes a review each week", () => {
  test("runs on Mondays and gets no token of the Kubernetes API", async () => {
    const { schedule, jobTemplate } = await reviewOf({ review: { enabled: true } });
    expect(schedule).toBe("0 7 * * 1");
    expect(jobTemplate.spec.template.spec.automountServiceAccountToken).toBe(false);
  });

  test.each([
    ["of one replica", { review: { enabled: true } }, "http://127.0.0.1:9"],
    ["of two replicas", { review: { enabled: true }, replicas: 2 }, "http://127.0.0.1:9"],
    ["with everything that can be set", { ...everything, replicas: 2 }, "https://127.0.0.1:9"],
  ])("gives the command arguments that it takes: %s", async (_, values, nobody) => {
    const lines: string[] = [];
    const io = {
      out: () => {},
      err: (text: string) => void lines.push(text),
      isTerminal: false,
      terminal: plainTerminal,
      interrupted: new Promise<void>(() => {}),
    };
    const [{ args }] = (await reviewOf(values)).jobTemplate.spec.template.spec.containers;
    // Nobody listens there, and the files are not here: it fails for one of these (1), and not for how it was called (2).
    const code = await run(
      args.map((arg) => (arg.startsWith("--url=") ? `--url=${nobody}` : arg)),
      io,
    );
    expect(code, lines.join("")).toBe(1);
    expect(lines.join("")).toMatch(/127\.0\.0\.1:9|\/etc\/fairlead(-user|-ca|\/fairlead)/);
  });

  test("asks the Service, or each replica by its name", async () => {
    const urls = async (values: GivenValues): Promise<readonly string[]> =>
      (await reviewOf(values)).jobTemplate.spec.template.spec.containers[0].args.filter((arg) =>
        arg.startsWith("--url="),
      );
    expect(await urls({ review: { enabled: true } })).toEqual(["--url=http://fairlead.fairlead.svc:10836"]);
    expect(await urls({ ...everything, replicas: 2 })).toEqual([
      "--url=https://fairlead-0.fairlead-replicas.fairlead.svc:10836",
      "--url=https://fairlead-1.fairlead-replicas.fairlead.svc:10836",
    ]);
  });
});
