import { lookup as resolve, type LookupAddress, type LookupOptions } from "node:dns";
import { BlockList, isIP } from "node:net";

/**
 * Addresses that only the machine or its neighbors reach: link-local ones (RFC 3927, RFC 4291), which have the metadata services of AWS,
 * Azure, Google Cloud and others, and the metadata services with other addresses (AWS and Google Cloud over IPv6, Alibaba Cloud, Oracle
 * Cloud, Azure's WireServer).
 */
const LINK_LOCAL = new BlockList();
LINK_LOCAL.addSubnet("169.254.0.0", 16, "ipv4");
LINK_LOCAL.addSubnet("fe80::", 10, "ipv6");
LINK_LOCAL.addAddress("fd00:ec2::254", "ipv6");
LINK_LOCAL.addAddress("100.100.100.200", "ipv4");
LINK_LOCAL.addAddress("192.0.0.192", "ipv4");
LINK_LOCAL.addAddress("fd20:ce::254", "ipv6");
LINK_LOCAL.addAddress("168.63.129.16", "ipv4");

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
