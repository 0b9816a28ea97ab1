/**
 * The entry `everthread/models`: backends for `defineModel`, and the provider port for those who write their own. The folder:
 *
 *   calling     `call-model` runs a step's attempts as `attempt-plan` decides; `attempt` makes one, with `stall-guard` for its time,
 *               `answer-meter` for its size and `accumulate` for its chunks
 *   failing     `classify` turns what a backend threw into one ProviderError; `redact` takes keys out of its text
 *   backends    `openai-compatible` (`openai-request`, `openai-response`) and `ai-sdk` (`ai-sdk-model`, `ai-sdk-request`, `ai-sdk-response`)
 *   for both    `bounded-fetch`, `plausible`, `present`, `reasoning-effort`, `tool-arguments`, `tool-images`
 */
export type {
  ContentPart,
  ExecutedProviderTool,
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
  ReasoningRequest,
  SafeParseResult,
} from '../core/message/provider.ts';
export { ProviderError } from '../core/message/provider.ts';
export { aiSdk } from './ai-sdk.ts';
export type {
  AiSdkAnswer,
  AiSdkCallOptions,
  AiSdkLanguageModel,
  AiSdkPart,
  AiSdkStream,
} from './ai-sdk-model.ts';
export { boundedFetch, type Fetch } from './bounded-fetch.ts';
export { type OpenaiCompatibleOptions, openaiCompatible } from './openai-compatible.ts';
