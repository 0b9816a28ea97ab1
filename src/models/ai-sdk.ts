/**
 * Backend for every language model of the AI SDK: any provider package for it can be used.
 * The model is called directly, without the SDK's `generateText`, which would retry and loop on its own.
 */
import type {
  Provider,
  ProviderFactory,
  ProviderRequest,
  ProviderStreamChunk,
} from '../core/message/provider.ts';
import { traceHeader } from '../traceparent.ts';
import type { AiSdkCallOptions, AiSdkLanguageModel } from './ai-sdk-model.ts';
import { toCallOptions } from './ai-sdk-request.ts';
import { fromAnswer, fromStream } from './ai-sdk-response.ts';
import { classifyError } from './classify.ts';
import { NO_SLOTS } from './provider-config.ts';

/**
 * A provider factory for `defineModel` from an AI SDK provider: `aiSdk((modelId) => anthropic(modelId))`. The function
 * receives the definition's `model`; keys and addresses are configured on the AI SDK provider. A definition's `providerOptions`
 * are passed on under that provider's name.
 * @example
 * ```ts
 * declare const anthropic: (modelId: string) => AiSdkLanguageModel; // of '@ai-sdk/anthropic'
 *
 * export default defineModel({ name: 'main', provider: aiSdk((id) => anthropic(id)), model: 'claude-sonnet-4-5' });
 * ```
 */
export function aiSdk(toModel: (modelId: string) => AiSdkLanguageModel): ProviderFactory {
  const provider: Provider = {
    name: 'ai-sdk',
    specificationVersion: '1',

    generate: async (request) => {
      try {
        const model = toModel(request.model);
        return fromAnswer(await model.doGenerate(toCall(request, model)), model);
      } catch (error) {
        throw toFailure(error, request);
      }
    },

    stream: async (request) => readStream(toModel, request),
  };
  const named = { aiSdk: () => provider };
  return Object.assign(named.aiSdk, { configSlots: NO_SLOTS, pricedAs: () => ({}) });
}

async function* readStream(
  toModel: (modelId: string) => AiSdkLanguageModel,
  request: ProviderRequest,
): AsyncGenerator<ProviderStreamChunk> {
  try {
    const model = toModel(request.model);
    const { stream } = await model.doStream(toCall(request, model));
    yield* fromStream(stream, model);
  } catch (error) {
    throw toFailure(error, request);
  }
}

/** An abort is thrown as the signal's own reason. */
function toFailure(error: unknown, { signal }: ProviderRequest): unknown {
  return signal?.aborted ? signal.reason : classifyError(error, { now: Date.now() });
}

function toCall(request: ProviderRequest, model: AiSdkLanguageModel): AiSdkCallOptions {
  const traceparent = traceHeader();
  const options = toCallOptions(request, model);
  return traceparent === undefined ? options : { ...options, headers: { traceparent } };
}
