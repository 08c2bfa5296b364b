import { networkInterfaces } from "node:os";

/** The address on which the demo's servers listen, and the host by which others reach them. */
export interface DemoAddress {
  readonly listen: string;
  readonly host: string;
}

/** Only for this machine. */
export const LOOPBACK: DemoAddress = { listen: "127.0.0.1", host: "127.0.0.1" };

/** Returns the address to listen on. For all addresses, the host is the first address that is not loopback, as in a container. */
export function demoAddress(listen: string): DemoAddress {
  if (listen !== "0.0.0.0") return { listen, host: listen };
  const outer = Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .find(({ family, internal }) => family === "IPv4" && !internal);
  return { listen, host: outer?.address ?? LOOPBACK.host };
}
