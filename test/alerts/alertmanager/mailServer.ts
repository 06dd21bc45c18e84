import { createServer, type Server } from "node:net";

/** A mail server that takes everything, in the fewest words of SMTP that Alertmanager asks for. */
export function mailServer(onMail: (text: string) => void): Server {
  return createServer((socket) => {
    let mail: string | null = null;
    socket.setEncoding("utf8").on("error", () => socket.destroy());
    socket.write("220 test\r\n");
    socket.on("data", (chunk: string) => {
      if (mail === null) {
        if (chunk === "DATA\r\n") mail = "";
        socket.write(answerTo(chunk));
        return;
      }
      mail += chunk;
      if (!mail.endsWith("\r\n.\r\n")) return;
      onMail(mail);
      mail = null;
      socket.write("250 taken\r\n");
    });
  });
}

function answerTo(command: string): string {
  if (command === "DATA\r\n") return "354 go on\r\n";
  return command === "QUIT\r\n" ? "221 bye\r\n" : "250 test\r\n";
}
