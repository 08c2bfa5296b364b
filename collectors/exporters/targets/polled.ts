import type { Discovery, Target } from "./target.ts";

/**
 * A discovery that asks again and again. What fails is told, and the targets that were known last are kept: a directory
 * service that is down must not end the scraping of what it named. Asks never overlap.
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
