/** A command that a benchmark sends to a process of its fleet. */
export type FleetCommand =
  | { readonly type: "advance"; readonly cycle: number }
  /** Ends all connections, as servers do with idle ones. */
  | { readonly type: "close" }
  | { readonly type: "stop" };

/** The answer of a process of the fleet. */
export type FleetReply =
  | { readonly type: "listening"; readonly port: number }
  | { readonly type: "closed" }
  /** `version`: the resource version of the last event that was sent. */
  | { readonly type: "advanced"; readonly cycle: number; readonly events: number; readonly version: string };

/** Runs a process of a fleet: it answers commands one by one, and ends when its parent ends. */
export function answerCommands(
  advance: (cycle: number) => Omit<Extract<FleetReply, { type: "advanced" }>, "type" | "cycle">,
  closeConnections: () => void = () => {},
): void {
  process.on("message", (command: FleetCommand) => {
    if (command.type === "stop") process.exit(0);
    if (command.type === "close") {
      closeConnections();
      reply({ type: "closed" });
      return;
    }
    reply({ type: "advanced", cycle: command.cycle, ...advance(command.cycle) });
  });
  process.on("disconnect", () => process.exit(0));
}

export function reply(message: FleetReply): void {
  process.send?.(message);
}
