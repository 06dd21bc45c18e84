/** A command that a benchmark sends to a process of its fleet. */
export type FleetCommand = { readonly type: "advance"; readonly cycle: number } | { readonly type: "stop" };

/** The answer of a process of the fleet. */
export type FleetReply =
  | { readonly type: "listening"; readonly port: number }
  /** `version`: the resource version of the last event that was sent. */
  | { readonly type: "advanced"; readonly cycle: number; readonly events: number; readonly version: string };

/** Runs a process of a fleet: it answers commands one by one, and ends when its parent ends. */
export function answerCommands(
  advance: (cycle: number) => Omit<Extract<FleetReply, { type: "advanced" }>, "type" | "cycle">,
): void {
  process.on("message", (command: FleetCommand) => {
    if (command.type === "stop") process.exit(0);
    reply({ type: "advanced", cycle: command.cycle, ...advance(command.cycle) });
  });
  process.on("disconnect", () => process.exit(0));
}

export function reply(message: FleetReply): void {
  process.send?.(message);
}
