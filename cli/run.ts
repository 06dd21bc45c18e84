import addCompletion from "@bomb.sh/tab/commander";
import { Command, CommanderError, InvalidArgumentError, Option } from "commander";
import { type CapacityType, capacityTypes } from "../exporter/model/capacityType.ts";
import {
  defaultListenAddress,
  defaultTelemetryPath,
  parseListenAddress,
} from "../exporter/publish/http/listenAddress.ts";
import { typeable } from "../exporter/publish/terminal/layout.ts";
import { addAdvise } from "./advise/commands.ts";
import { addAlerts } from "./alerts/commands.ts";
import { sourceText } from "./answerSource.ts";
import { addCapture } from "./capture/commands.ts";
import { addDashboards } from "./dashboards/commands.ts";
import { addDigest } from "./digest/commands.ts";
import { addExplain } from "./explain/commands.ts";
import { addHistory } from "./history/commands.ts";
import { atOfDump } from "./inspect/atOption.ts";
import type { ExitCode, Io } from "./io.ts";
import { addLedger } from "./ledger/commands.ts";
import { outputOption, wholeNumber } from "./options.ts";
import { printable } from "./printable.ts";
import { addReview } from "./review/commands.ts";
import { addTop } from "./top/commands.ts";
import { readVersion } from "./version.ts";

/** Runs one command line (without `node` and the script). Folders are loaded only by the command that needs them. */
export async function run(args: readonly string[], door: Io): Promise<ExitCode> {
  // Errors quote what was given and found: arguments, file names.
  const io: Io = { ...door, err: (text) => door.err(printable(typeable(text, door.terminal))) };
  let code: ExitCode = 0;
  const program = createProgram(io, (result) => {
    code = result;
  });
  try {
    await program.parseAsync([...args], { from: "user" });
    return code;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    const message = error instanceof Error ? error.message : String(error);
    io.err(
      `fairlead: ${message}\nNext step: this is a fault in Fairlead; please report it with the command line that led to it.\n`,
    );
    return 1;
  }
}

function createProgram(io: Io, done: (code: ExitCode) => void): Command {
  const program = new Command("fairlead")
    .description("Who holds which GPU of a Kubernetes cluster, and what it does with it.")
    .version(readVersion(), "-V, --version")
    .showSuggestionAfterError()
    .showHelpAfterError("Next step: fairlead --help lists the commands, fairlead COMMAND --help their options.")
    .exitOverride()
    .configureOutput({
      writeOut: io.out,
      writeErr: io.err,
      outputError: (text, write) => write(text.replace(/^error:/, "fairlead:")),
    });
  addServe(program, io, done);
  addDemo(program, io, done);
  addCapture(program, io, done);
  addInspect(program, io, done);
  addLedger(program, io, done);
  addHistory(program, io, done);
  addReview(program, io, done);
  addDigest(program, io, done);
  addExplain(program, io, done);
  addAdvise(program, io, done);
  addTop(program, io, done);
  addPrice(program, io, done);
  addAlerts(program, io, done);
  addDashboards(program, io, done);
  program
    .command("check-config")
    .description("check a configuration file and list everything that is wrong with it")
    .argument("<file>", "configuration file (YAML)")
    .action(async (file: string) => done(await (await import("./readConfig.ts")).checkConfig(file, io)));
  for (const command of program.commands) command.copyInheritedSettings(program);
  addCompletion(program);
  program.commands
    .find((command) => command.name() === "complete")
    ?.description("write what makes a shell complete commands and options: bash, zsh or fish");
  return program;
}

function addServe(program: Command, io: Io, done: (code: ExitCode) => void): void {
  program
    .command("serve")
    .description("watch a cluster and publish its answers on /metrics, / and /api/v1")
    .option("--config.file <file>", "configuration file (YAML); default: everything at its default")
    .option("--web.listen-address <address>", "address to listen on", listenAddress, defaultListenAddress)
    .option(
      "--health-probe-bind-address <address>",
      "also answer /livez and /readyz here, by plain HTTP, apart from everybody else; default: only where everything is",
      listenAddress,
    )
    .option("--web.telemetry-path <path>", "path of the page of metrics", telemetryPath, defaultTelemetryPath)
    .option("--web.config.file <file>", "TLS and authentication, as for other Prometheus exporters")
    .addOption(
      new Option("--log.level <level>", "least severe line that is logged")
        .choices(["debug", "info", "warn", "error"])
        .default("info"),
    )
    .addOption(
      new Option("--log.format <format>", "lines for machines or for people")
        .choices(["json", "pretty"])
        .default("json"),
    )
    .action(async (flags: Record<string, string | undefined>) => {
      const { serve } = await import("./serve.ts");
      const level = flags["log.level"];
      done(
        await serve(
          {
            configFile: flags["config.file"] ?? null,
            listenAddress: flags["web.listenAddress"] ?? defaultListenAddress,
            probeAddress: flags.healthProbeBindAddress ?? null,
            telemetryPath: flags["web.telemetryPath"] ?? defaultTelemetryPath,
            webConfigFile: flags["web.config.file"] ?? null,
            logLevel: level === "debug" || level === "warn" || level === "error" ? level : "info",
            logFormat: flags["log.format"] === "pretty" ? "pretty" : "json",
          },
          io,
        ),
      );
    });
}

function addDemo(program: Command, io: Io, done: (code: ExitCode) => void): void {
  program
    .command("demo")
    .description("play a simulated cluster and show what Fairlead finds in it")
    .option("--once", "print one table and end", false)
    .addOption(
      new Option(
        "--scenario <name>",
        "another play: a stalled job, a dark server and a sick GPU; racks without room for a waiting gang; or one burst under three policies, in one table (half a minute each)",
      )
        .choices(["waste", "racks", "burst"])
        .conflicts(["trace", "prometheus", "dashboards"]),
    )
    .option("--trace <dir>", "play the openb trace found in this folder (its pods, its placement)")
    .option("--prometheus", "also start a Prometheus server on it, with rules and alerts, if one is installed", false)
    .option("--dashboards", "also show the dashboards in the browser; implies --prometheus", false)
    .option("--web.listen-address <address>", "address to listen on", listenAddress, defaultListenAddress)
    .option("--seed <number>", "another seed gives another cluster life", seed, 1)
    .option("--speed <factor>", "simulated seconds per second", speedFactor, 6)
    .action(
      async (flags: {
        once: boolean;
        scenario?: "waste" | "racks" | "burst";
        trace?: string;
        prometheus: boolean;
        dashboards: boolean;
        seed: number;
        speed: number;
        "web.listenAddress"?: string;
      }) => {
        if (flags.scenario === "burst") {
          const { demoBurst } = await import("./demo/burst/demoBurst.ts");
          return done(await demoBurst(flags.seed, io));
        }
        const { demo } = await import("./demo/demo.ts");
        const listenAddress = flags["web.listenAddress"] ?? defaultListenAddress;
        const { once, scenario = null, trace = null, prometheus, dashboards, seed, speed } = flags;
        done(await demo({ once, scenario, traceDir: trace, prometheus, dashboards, listenAddress, seed, speed }, io));
      },
    );
}

function addInspect(program: Command, io: Io, done: (code: ExitCode) => void): void {
  program
    .command("inspect")
    .description(
      "print who holds the GPUs of a captured dump: *.prom pages and kubectl get -o json|yaml files, any mix",
    )
    .argument("<path...>", "folders or files")
    .addOption(outputOption("a table for people, or one JSON document", ["table", "json"]))
    .option("--at <time>", atOfDump)
    .option("--config.file <file>", "configuration file (YAML), for team rules and resource names")
    .action(async (paths: string[], flags: InspectFlags) => {
      const { inspect } = await import("./inspect/inspect.ts");
      const { output, at } = flags;
      const configFile = flags["config.file"];
      const source = sourceText({ dump: paths, at, "config.file": configFile });
      done(
        await inspect(
          { paths, output, at: at ?? null, configFile: configFile ?? null },
          { ...io, terminal: { ...io.terminal, source } },
        ),
      );
    });
}

interface InspectFlags {
  readonly output: "table" | "json";
  readonly at?: string;
  readonly "config.file"?: string;
}

function addPrice(program: Command, io: Io, done: (code: ExitCode) => void): void {
  program
    .command("price")
    .description("show what a kind of node costs per hour, with the source and the date of the price")
    .argument("[instance-type]", "the cloud's name of it, such as p5.48xlarge")
    .option("--config.file <file>", "configuration file (YAML), for your own prices")
    .addOption(
      new Option("--capacity-type <type>", "how it is paid for").choices(capacityTypes).default("on-demand" as const),
    )
    .option(
      "--gpu-model <model>",
      "canonical GPU model, such as H100-80GB-HBM3; without an instance type, any node with it",
    )
    .option("--provider <name>", "aws, azure, gcp, coreweave, ...")
    .addOption(outputOption("for people, or one JSON document", ["table", "json"]))
    .action(async (instanceType: string | undefined, flags: PriceFlags) => {
      const { priceCommand } = await import("./price/priceCommand.ts");
      const options = {
        instanceType: instanceType ?? null,
        gpuModel: flags.gpuModel ?? null,
        provider: flags.provider ?? null,
        capacityType: flags.capacityType,
        configFile: flags["config.file"] ?? null,
        output: flags.output,
      };
      done(await priceCommand(options, io));
    });
}

interface PriceFlags {
  readonly "config.file"?: string;
  readonly capacityType: CapacityType;
  readonly gpuModel?: string;
  readonly provider?: string;
  readonly output: "table" | "json";
}

const seed = wholeNumber(0, 999_999_999, "from 0 on");

function speedFactor(text: string): number {
  const factor = Number(text);
  if (factor >= 0.1 && factor <= 1000) return factor;
  throw new InvalidArgumentError("Expected a number from 0.1 to 1000.");
}

function listenAddress(text: string): string {
  if (parseListenAddress(text) !== null) return text;
  throw new InvalidArgumentError("Expected :PORT or HOST:PORT, such as 127.0.0.1:10836.");
}

function telemetryPath(text: string): string {
  if (!/^\/[\w./-]+$/.test(text))
    throw new InvalidArgumentError("Expected a path that begins with /, such as /metrics.");
  if (/^\/(api|livez|readyz)(\/|$)/.test(text))
    throw new InvalidArgumentError("This path is taken by another page of Fairlead.");
  return text;
}
