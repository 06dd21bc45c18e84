import { plainText } from "../terminal/columns.ts";

/** Longest command that is shown: a patch of a whole pod template fits. */
const longest = 20_000;

/**
 * A command as it may be pasted; `null` where it must not be shown: it is very long, or holds characters that a reader does
 * not see but a shell does. Steps never produce such a command from names that Kubernetes allows.
 */
export function commandText(command: string): string | null {
  return command.length <= longest && plainText(command, longest) === command ? command : null;
}

/** What is shown in place of such a command. */
export const commandNotShown = "This command is not shown: it is too long, or holds characters that cannot be seen.";
