import type { Discovery, Target } from "./target.ts";

/**
 * Creates a discovery that polls. After a failure, which is reported, the last known targets stay: an unavailable directory service must
 * not stop the scraping of its targets. Polls never overlap.
 */
export function createPolledDiscovery(options: {
  readonly name: string;
  readonly refreshMillis: number;
  readonly look: (signal: AbortSignal) => Promise<readonly Target[]>;
}): Discovery {
  const stopping = new AbortController();
  let running = Promise.resolve();
  let timer: NodeJS.Timeout | undefined;
  return {
    name: options.name,
    start(onTargets, onError) {
      let last = "";
      const once = async (): Promise<void> => {
        try {
          const targets = await options.look(stopping.signal);
          const text = JSON.stringify(targets);
          if (text !== last && !stopping.signal.aborted) onTargets(targets, []);
          last = text;
        } catch (error) {
          if (!stopping.signal.aborted) onError(error instanceof Error ? error : new Error(String(error)));
        }
        if (!stopping.signal.aborted) timer = setTimeout(again, options.refreshMillis);
      };
      const again = (): void => {
        running = once();
      };
      again();
    },
    async stop() {
      stopping.abort();
      clearTimeout(timer);
      await running;
    },
  };
}
