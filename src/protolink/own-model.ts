/**
 * What a thread does where a model has nothing to decide: a task that is one call of a tool, or a handler of one's own. Nobody has said
 * anything in such a thread, so no model is asked: its answer is the last result.
 */
import type { Provider, ProviderFactory, ProviderRequest, ProviderResponse } from '../models/index.ts';

const FREE = { promptTokens: 0, completionTokens: 0, totalTokens: 0 } as const;

function lastResult({ messages }: ProviderRequest): ProviderResponse {
  const last = messages.findLast((message) => message.role === 'tool');
  const content = last?.content ?? '';
  const text = typeof content === 'string' ? content : content.type === 'text' ? content.text : content.error;
  return { content: text, finishReason: 'stop', usage: FREE };
}

async function* streamed({ content, finishReason, usage }: ProviderResponse) {
  yield { type: 'content-delta', delta: content ?? '' } as const;
  yield { type: 'finish', finishReason, usage } as const;
}

const ownProvider: Provider = {
  name: 'result',
  specificationVersion: '1',
  generate: async (request) => lastResult(request),
  stream: async (request) => streamed(lastResult(request)),
};

/** The model, where there is one and somebody has said something. */
export function besideOwn(model?: ProviderFactory): ProviderFactory {
  if (!model) return Object.assign(() => ownProvider, { configSlots: {} });
  const factory: ProviderFactory = (config) => {
    const asked = model(config);
    const choose = (request: ProviderRequest) =>
      request.messages.some(({ role }) => role === 'user') ? asked : ownProvider;
    return Object.assign(Object.create(asked) as Provider, {
      generate: (request: ProviderRequest) => choose(request).generate(request),
      stream: (request: ProviderRequest) => choose(request).stream(request),
    });
  };
  return Object.assign(factory, model);
}
