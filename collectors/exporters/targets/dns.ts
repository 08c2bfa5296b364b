import { Resolver } from "node:dns/promises";
import { toUrl, type Discovery, type Target } from "./target.ts";
import type { AddressDefaults } from "./group.ts";
import { createPolledDiscovery } from "./polled.ts";

/** The name server's interface; Node's resolver by default. */
export interface NameServer {
  resolve4(name: string): Promise<string[]>;
  resolve6(name: string): Promise<string[]>;
  resolveSrv(name: string): Promise<readonly { readonly name: string; readonly port: number }[]>;
}

/** Creates a discovery from A, AAAA or SRV records: one target for each address, as a headless Service provides them. */
export function createDnsDiscovery(options: {
  readonly names: readonly string[];
  readonly type: "A" | "AAAA" | "SRV";
  readonly refreshMillis: number;
  readonly defaults: AddressDefaults;
  readonly server?: NameServer;
}): Discovery {
  const { names, type, refreshMillis, defaults, server = new Resolver() } = options;
  const look = async (name: string): Promise<Target[]> => {
    const addresses =
      type === "SRV"
        ? (await server.resolveSrv(name)).map((record) => `${record.name}:${record.port}`)
        : type === "A"
          ? await server.resolve4(name)
          : (await server.resolve6(name)).map((address) => `[${address}]`);
    return addresses.sort().map((address) => ({ url: toUrl(address, defaults), labels: { dns_name: name } }));
  };
  return createPolledDiscovery({
    name: `dns ${names.join(",")}`,
    refreshMillis,
    look: async () => (await Promise.all(names.map(look))).flat(),
  });
}
