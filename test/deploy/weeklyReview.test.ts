import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { parseAllDocuments } from "yaml";
import { z } from "zod";
import { run } from "../../cli/run.ts";

const file = path.join(import.meta.dirname, "../../deploy/examples/weekly-review.yaml");
const cronJob = z.object({
  kind: z.literal("CronJob"),
  spec: z.object({
    schedule: z.string(),
    jobTemplate: z.object({
      spec: z.object({
        template: z.object({
          spec: z.object({
            automountServiceAccountToken: z.literal(false),
            securityContext: z.object({
              runAsNonRoot: z.literal(true),
              seccompProfile: z.object({ type: z.literal("RuntimeDefault") }),
            }),
            containers: z.tuple([
              z.object({
                args: z.array(z.string()),
                securityContext: z.object({
                  allowPrivilegeEscalation: z.literal(false),
                  readOnlyRootFilesystem: z.literal(true),
                  capabilities: z.object({ drop: z.tuple([z.literal("ALL")]) }),
                }),
              }),
            ]),
          }),
        }),
      }),
    }),
  }),
});

describe("the example that writes a review each week", () => {
  const documents = parseAllDocuments(readFileSync(file, "utf8")).map((document): unknown => document.toJS());
  const { spec } = cronJob.parse(documents[0]);
  const [{ args }] = spec.jobTemplate.spec.template.spec.containers;

  test("runs on Mondays, as nobody in particular, and may do nothing else", () => {
    expect(spec.schedule).toBe("0 7 * * 1");
  });

  test("gives the command arguments that it takes", async () => {
    const lines: string[] = [];
    const io = {
      out: () => {},
      err: (text: string) => void lines.push(text),
      isTerminal: false,
      interrupted: new Promise<void>(() => {}),
    };
    // Nobody listens there: it fails to reach the exporter (1), and not for how it was called (2).
    const code = await run(
      args.map((arg) => arg.replace("http://fairlead:10836", "http://127.0.0.1:9")),
      io,
    );
    expect(code, lines.join("")).toBe(1);
    expect(lines.join("")).toContain("http://127.0.0.1:9");
  });

  test("is an address of the port that Fairlead listens on", () => {
    expect(args).toContain("--url=http://fairlead:10836");
  });
});
