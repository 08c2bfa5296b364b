/** A browser without pages: it follows redirects and keeps cookies for each origin. */
export interface BrowserJar {
  /** Opens an address and follows redirects. Returns the last answer with its address. `until` ends it before an address is opened. */
  open(
    url: string,
    options?: { readonly method?: string; readonly until?: (url: URL) => boolean },
  ): Promise<{ readonly url: URL; readonly response: Response }>;
  /** The cookies of an origin, by name. */
  cookies(origin: string): Map<string, string>;
}

const MOST_REDIRECTS = 20;

/** Starts a browser without cookies. */
export function createBrowserJar(): BrowserJar {
  const jars = new Map<string, Map<string, string>>();
  const jarOf = (origin: string): Map<string, string> => {
    const jar = jars.get(origin) ?? new Map<string, string>();
    jars.set(origin, jar);
    return jar;
  };

  function keep(origin: string, response: Response): void {
    for (const line of response.headers.getSetCookie()) {
      const [pair = "", ...attributes] = line.split("; ");
      const [name = "", ...value] = pair.split("=");
      const isEnded = attributes.some((each) => /^max-age=0$|^expires=Thu, 01 Jan 1970/i.test(each));
      if (isEnded) jarOf(origin).delete(name);
      else jarOf(origin).set(name, value.join("="));
    }
  }

  return {
    cookies: jarOf,
    async open(url, { method = "GET", until = () => false } = {}) {
      let [address, verb] = [new URL(url), method];
      for (let count = 0; count < MOST_REDIRECTS; count++) {
        const cookie = [...jarOf(address.origin)].map(([name, value]) => `${name}=${value}`).join("; ");
        const response = await fetch(address, {
          method: verb,
          redirect: "manual",
          headers: { accept: "text/html", ...(cookie === "" ? {} : { cookie }) },
        });
        keep(address.origin, response);
        const location = response.headers.get("location");
        if (location === null) return { url: address, response };
        await response.body?.cancel();
        [address, verb] = [new URL(location, address), "GET"];
        if (until(address)) return { url: address, response };
      }
      throw new Error(`more than ${MOST_REDIRECTS} redirects, the last to ${address.href}`);
    },
  };
}
