import { type Command, Option } from "commander";
import { type PostFormat, postFormats } from "../../review/chat/chatMessage.ts";
import { askSource, defaultUrl, type SourceFlags } from "../answerSource.ts";
import type { ExitCode, Io } from "../io.ts";
import { withLogin } from "../options.ts";

interface DigestFlags extends SourceFlags {
  readonly post?: true;
  readonly channels?: string;
  readonly postFormat: PostFormat;
  readonly link?: string;
}

/** Adds `fairlead digest`. */
export function addDigest(program: Command, io: Io, done: (code: ExitCode) => void): void {
  const command = program
    .command("digest")
    .description("write to each owner or team whose GPUs are idle; prints the messages, and posts them with --post")
    .option("--url <url>", "address of a running exporter", defaultUrl)
    .addOption(new Option("--demo", "of the simulated cluster of the demo instead (some seconds)").conflicts("url"))
    .option("--config.file <file>", "configuration file (YAML) that says whose digest goes to which channel");
  withLogin(command)
    .option("--post", "post the messages")
    .option("--channels <folder>", "folder with a file for each channel, which holds the address of its webhook")
    .addOption(
      new Option("--post-format <format>", "what the webhooks take: text (Slack, Mattermost), slack (blocks) or teams")
        .choices(postFormats)
        .default("text"),
    )
    .option("--link <url>", "where readers find more, such as the page of workloads")
    .action(async (flags: DigestFlags) => {
      const { digestCommand } = await import("./digestCommand.ts");
      const { post = false, channels = null, postFormat: format, link = null } = flags;
      const options = { isPosted: post, folder: channels, format, link };
      done(await askSource(flags, io, (source, at) => digestCommand({ ...source, ...options }, at)));
    });
}
