import { BlockList, isIP } from "node:net";

const LOOPBACK = new BlockList();
LOOPBACK.addSubnet("127.0.0.0", 8, "ipv4");
LOOPBACK.addAddress("::1", "ipv6");

/** Returns true if a `host:port`, with or without the port, is of this machine alone: 127.0.0.0/8, `[::1]`, localhost. */
export function isLoopback(address: string): boolean {
  const [, bracketed, plain] = /^(?:\[([^\]]*)\]|([^:]*))(?::\d*)?$/.exec(address) ?? [];
  const host = bracketed ?? plain ?? "";
  if (host.toLowerCase() === "localhost") return true;
  const version = isIP(host);
  return version !== 0 && LOOPBACK.check(host, version === 6 ? "ipv6" : "ipv4");
}
