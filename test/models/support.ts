/** Model definitions, requests and waiting for the tests of `models` and `testing`. */
import type { ModelDefinition } from '../../src/core/author/definition.ts';
import type {
  ProviderFactory,
  ProviderRequest,
  ProviderStreamChunk,
} from '../../src/core/message/provider.ts';
import { eventually } from '../support/eventually.ts';

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

/** Waits for a condition; for less time than the two minutes after which a silent request is given up by itself. */
export async function until(condition: () => boolean, what: string): Promise<void> {
  await eventually(what, condition, 100_000, 5);
}
