/** Model definitions, requests and waiting for the tests of `models` and `testing`. */
import type { ModelDefinition } from '../../src/core/author/definition.ts';
import type {
  ProviderFactory,
  ProviderRequest,
  ProviderStreamChunk,
} from '../../src/core/message/provider.ts';

export function defineTestModel(
  name: string,
  provider: ProviderFactory,
  rest: Partial<ModelDefinition> = {},
): ModelDefinition {
  return {
    kind: 'model',
    name,
    provider,
    model: `${name}-id`,
    fallbacks: [],
    includedProviders: [],
    capabilities: {},
    providerOptions: {},
    providerTools: [],
    ...rest,
  };
}

export function ask(text: string, rest: Partial<ProviderRequest> = {}): ProviderRequest {
  return { model: 'test-id', messages: [{ role: 'user', content: text }], ...rest };
}

export async function collect(chunks: AsyncIterable<ProviderStreamChunk>): Promise<ProviderStreamChunk[]> {
  const all: ProviderStreamChunk[] = [];
  for await (const chunk of chunks) all.push(chunk);
  return all;
}

/** Milliseconds; well below the 4 to 5 seconds after which either end closes an idle socket by itself. */
export const AT_ONCE_MS = 3000;

/**
 * Waits for a condition; fails after twenty seconds, since a busy machine may suspend this process for some of them.
 */
export async function until(condition: () => boolean, what: string): Promise<void> {
  const deadline = Date.now() + 20_000;
  while (!condition()) {
    if (Date.now() > deadline) throw new Error(`Waited twenty seconds in vain for ${what}.`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
