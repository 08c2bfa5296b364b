import { networkInterfaces } from "node:os";

/** Where the demo's servers listen, and by which host others reach them. */
export interface DemoAddress {
  readonly listen: string;
  readonly host: string;
}

/** Of this machine alone. */
export const LOOPBACK: DemoAddress = { listen: "127.0.0.1", host: "127.0.0.1" };

/** The address to listen on; of all addresses, others are told the first that is not this machine's own, as in a container. */
export function demoAddress(listen: string): DemoAddress {
  if (listen !== "0.0.0.0") return { listen, host: listen };
  const outer = Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .find(({ family, internal }) => family === "IPv4" && !internal);
  return { listen, host: outer?.address ?? LOOPBACK.host };
}
