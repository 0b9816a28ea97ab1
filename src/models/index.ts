/** The door `everthread/models`: backends for `defineModel`, and the port for those who write their own. */
export type {
  ContentPart,
  FinishReason,
  Provider,
  ProviderErrorCode,
  ProviderFactory,
  ProviderFactoryConfig,
  ProviderMessage,
  ProviderRequest,
  ProviderResponse,
  ProviderStreamChunk,
  ProviderTool,
  ProviderToolCall,
  ProviderUsage,
} from '../core/provider.ts';
export { ProviderError } from '../core/provider.ts';
export { aiSdk } from './ai-sdk.ts';
export type { AiSdkLanguageModel } from './ai-sdk-model.ts';
export { boundedFetch } from './bounded-fetch.ts';
export { type OpenaiCompatibleOptions, openaiCompatible } from './openai-compatible.ts';
