import type { GatewayModels } from "./rules.ts";

/** Prefixes that gateways put before the name of a model on a server of one's own: the provider. */
const PROVIDER = /^(hosted_vllm|vllm|openai|openai_like|litellm_proxy|custom_openai|nvidia_nim|triton|huggingface)\//;

/**
 * Returns the engine's model behind a name that a gateway uses. The configuration decides first. Otherwise the model is the name itself if an
 * engine serves it, or what is left of the name without a provider; undefined if no engine serves either.
 */
export function engineModelOf(
  name: string,
  adapter: string,
  models: GatewayModels,
  served: ReadonlySet<string>,
): { readonly model: string; readonly adapter: string } | undefined {
  const mapped = models.get(name);
  if (mapped !== undefined) return served.has(mapped.model) ? mapped : undefined;
  const model = [name, name.replace(PROVIDER, "")].find((each) => served.has(each));
  return model === undefined ? undefined : { model, adapter };
}
