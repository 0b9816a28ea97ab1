import {
  defineTool,
  type Provider,
  ProviderError,
  type ProviderFactoryConfig,
  type ProviderRequest,
  type ProviderStreamChunk,
} from '@standardagents/spec';
import { z } from 'zod';
import { answer } from './_script.ts';

const usage = { promptTokens: 10, completionTokens: 5, totalTokens: 15 };

class House implements Provider {
  readonly name = 'house';
  readonly specificationVersion = '1';
  readonly #key: string;

  constructor({ apiKey }: ProviderFactoryConfig) {
    this.#key = apiKey;
  }

  supportsModel(id: string) {
    return id === 'house-1';
  }

  async getModelCapabilities() {
    return { supportsImages: false, maxOutputTokens: 200, reasoningLevels: { 0: null, 50: 'some' } };
  }

  async getTools() {
    const execute = async () => ({ status: 'success' as const });
    return {
      weather: defineTool({
        description: 'Knows the weather.',
        args: z.object({ place: z.string() }),
        executionMode: 'provider',
        executionProvider: 'house',
        execute,
      }),
    };
  }

  async generate(): Promise<never> {
    throw new ProviderError('The house only streams.', 'invalid_request');
  }

  async stream(request: ProviderRequest): Promise<AsyncIterable<ProviderStreamChunk>> {
    if (this.#key !== 'key-of-the-house') throw new ProviderError('The key is wrong.', 'auth_error', 401);
    return this.#chunks(request);
  }

  async *#chunks(request: ProviderRequest): AsyncIterable<ProviderStreamChunk> {
    const { text, call, think } = answer(request);
    if (think) yield { type: 'reasoning-delta', delta: think };
    for (const delta of text?.split(/(?<= )/) ?? []) yield { type: 'content-delta', delta };
    if (call) {
      const id = `call-${request.messages.length}`;
      yield { type: 'tool-call-start', id, name: call.name };
      yield { type: 'tool-call-done', id, arguments: call.arguments };
    }
    yield { type: 'finish', finishReason: call ? 'tool_calls' : 'stop', usage, responseId: 'house-answer' };
  }
}

/** Makes the provider; its key is the variable HOUSE_API_KEY. */
export function house(config: ProviderFactoryConfig): Provider {
  return new House(config);
}

house.providerOptions = z.object({ temper: z.enum(['calm', 'wild']) });
