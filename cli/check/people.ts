import { isIP } from "node:net";
import { createIssuer } from "../../reports/sign-in/issuer.ts";
import type { Config } from "../../runtime/config/schema.ts";
import { attempt, type Finding } from "./finding.ts";

/** The shortest prefix of a network that names a few proxies, and not all pods of a cluster. */
const LEAST_BITS = { 4: 24, 6: 64 } as const;

/** Checks that the issuer answers, and that trusted networks are those of proxies alone. */
export async function* checkPeople({ server }: Config): AsyncGenerator<Finding> {
  const { signIn, proxySignIn, trustProxy } = server;
  if (signIn !== undefined)
    yield await attempt("server.signIn", async () => {
      const { url } = await createIssuer(signIn).begin();
      return `${signIn.issuer} sends people to ${url.host}`;
    });
  const trusted = [
    ["server.trustProxy", trustProxy, "any address as its own, and has no limit of connections"],
    ["server.proxySignIn.from", proxySignIn?.from ?? [], "anybody as a person, with any group"],
  ] as const;
  for (const [what, networks, may] of trusted)
    for (const network of networks.filter(isWide))
      yield {
        ok: true,
        warns: true,
        what,
        answer: `${network} is more than some proxies: every program in it can name ${may}; name the proxies' own addresses`,
      };
}

function isWide(network: string): boolean {
  const [address = "", bits] = network.split("/");
  return bits !== undefined && Number(bits) < LEAST_BITS[isIP(address) === 6 ? 6 : 4];
}
