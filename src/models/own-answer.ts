/** A provider that calls no service: it computes its answer from the request. It costs nothing and needs no key. */
import { toolError } from '../core/message/message.ts';
import {
  type Provider,
  ProviderError,
  type ProviderFactory,
  type ProviderRequest,
  type ProviderResponse,
} from '../core/message/provider.ts';
import { NO_SLOTS } from './provider-config.ts';

const ZERO_USAGE = { promptTokens: 0, completionTokens: 0, totalTokens: 0 } as const;

async function* streamAnswer({ content, finishReason, usage }: ProviderResponse) {
  yield { type: 'content-delta', delta: content ?? '' } as const;
  yield { type: 'finish', finishReason, usage } as const;
}

export function ownAnswer(name: string, answer: (request: ProviderRequest) => string): ProviderFactory {
  const respond = (request: ProviderRequest): ProviderResponse => ({
    content: answer(request),
    finishReason: 'stop',
    usage: ZERO_USAGE,
  });
  const provider: Provider = {
    name,
    specificationVersion: '1',
    generate: async (request) => respond(request),
    stream: async (request) => streamAnswer(respond(request)),
  };
  return Object.assign(
    named(name, () => provider),
    { configSlots: NO_SLOTS },
  );
}

/** The name of a factory is told with its requests, and names its variables. */
const named = (name: string, factory: ProviderFactory): ProviderFactory =>
  Object.defineProperty(factory, 'name', { value: name });

/**
 * Answers with the result of the last tool call: without a user message there is nothing for a model to decide. Fails
 * if the call has failed, so that its execution ends as failed.
 */
const toolResultProvider = ownAnswer('result', ({ messages }) => {
  const content = messages.findLast(({ role }) => role === 'tool')?.content ?? '';
  const text = typeof content === 'string' ? content : 'text' in content ? content.text : '';
  const error = typeof content === 'object' && 'error' in content ? content.error : toolError(text);
  if (error === undefined) return text;
  throw new ProviderError(error, 'invalid_request');
});

/** Uses `model` for requests with a user message; otherwise (or without a model) answers with the last tool result. */
export function withToolResultAnswers(model?: ProviderFactory): ProviderFactory {
  if (!model) return toolResultProvider;
  const factory: ProviderFactory = (config) => {
    const [asked, own] = [model(config), toolResultProvider(config)];
    const choose = ({ messages }: ProviderRequest) =>
      messages.some(({ role }) => role === 'user') ? asked : own;
    return Object.assign(Object.create(asked) as Provider, {
      generate: (request: ProviderRequest) => choose(request).generate(request),
      stream: (request: ProviderRequest) => choose(request).stream(request),
    });
  };
  return Object.assign(named(model.name, factory), model);
}
