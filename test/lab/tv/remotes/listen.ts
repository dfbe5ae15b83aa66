import { once } from "node:events";
import type { AddressInfo, Server, Socket } from "node:net";

/** Listens on a free port of this machine. `close` ends its connections too. */
export async function listenOn(server: Server): Promise<{ port: number; close(): Promise<void> }> {
  const sockets = new Set<Socket>();
  for (const event of ["connection", "secureConnection"])
    server.on(event, (socket: Socket) => {
      sockets.add(socket);
      socket.on("error", () => undefined);
      socket.on("close", () => sockets.delete(socket));
    });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    port,
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}
