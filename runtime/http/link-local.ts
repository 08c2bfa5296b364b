import { lookup as resolve, type LookupAddress, type LookupOptions } from "node:dns";
import { BlockList, isIP } from "node:net";

/** The networks of IPv4 that only the machine or its neighbors reach: link-local ones (RFC 3927), and the metadata services of Alibaba Cloud, Oracle Cloud and Azure (WireServer). */
const NEAR_IPV4 = [
  ["169.254.0.0", 16],
  ["100.100.100.200", 32],
  ["192.0.0.192", 32],
  ["168.63.129.16", 32],
] as const;

/**
 * Those networks, also as a translator of IPv6 writes them (RFC 6052, 8215, 3056, 4291), and those of IPv6: link-local ones, and the services
 * of AWS (`fd00:ec2::254` has metadata, `fd00:ec2::23` the credentials of EKS pods) and of Google Cloud.
 */
const LINK_LOCAL = new BlockList();
LINK_LOCAL.addSubnet("fe80::", 10, "ipv6");
LINK_LOCAL.addSubnet("fd00:ec2::", 96, "ipv6");
LINK_LOCAL.addAddress("fd20:ce::254", "ipv6");
for (const [address, bits] of NEAR_IPV4) {
  LINK_LOCAL.addSubnet(address, bits, "ipv4");
  const [a, b, c, d] = address.split(".").map(Number) as [number, number, number, number];
  const groups = [a * 256 + b, c * 256 + d].map((group) => group.toString(16)).join(":");
  for (const prefix of ["64:ff9b::", "64:ff9b:1::", "::"])
    LINK_LOCAL.addSubnet(`${prefix}${groups}`, 96 + bits, "ipv6");
  LINK_LOCAL.addSubnet(`2002:${groups}::`, 16 + bits, "ipv6");
}

/** The code of the error of {@link lookupElsewhere}. */
export const LINK_LOCAL_CODE = "ELINKLOCAL";

/** Returns true if a host is a link-local address. A name is false. */
export function isLinkLocal(host: string): boolean {
  const address = host.replace(/^\[|\]$/g, "").replace(/%.*$/, "");
  const version = isIP(address);
  return version !== 0 && LINK_LOCAL.check(address, version === 6 ? "ipv6" : "ipv4");
}

/** As `dns.lookup`. Fails with {@link LINK_LOCAL_CODE} if a name has a link-local address. */
export function lookupElsewhere(
  hostname: string,
  options: LookupOptions,
  callback: (error: Error | null, address: string | LookupAddress[], family?: number) => void,
  lookup: typeof resolve = resolve,
): void {
  lookup(hostname, options, (error, found, family) => {
    const addresses = typeof found === "string" ? [found] : (found ?? []).map(({ address }) => address);
    if (error === null && addresses.some(isLinkLocal))
      callback(Object.assign(new Error(`${hostname} has a link-local address`), { code: LINK_LOCAL_CODE }), "");
    else callback(error, found, family);
  });
}
