/**
 * The entry `everthread/models`: backends for `defineModel`, and the provider port for those who write their own. The folder:
 *
 *   calling     `call-model` runs a step's attempts as `attempt-plan` decides; `attempt` makes one: `provider-config` finds the settings
 *               of its provider and `meet-provider` makes it; `read-chunk` reads what it says, `answer-meter` measures it and `accumulate`
 *               puts it together; `stall-guard` has the time
 *   failing     `classify` turns what a backend threw into one ProviderError, `answer-failure` has those of an answer; `redact` takes
 *               keys out of a text
 *   backends    `openai-compatible` (`openai-request`, `openai-response`) and `ai-sdk` (`ai-sdk-model`, `ai-sdk-request`, `ai-sdk-response`)
 *   no backend  `own-answer`: answers that are made here, and cost nothing
 *   for both    `bounded-fetch`, `plausible`, `present`, `reasoning-effort`, `tool-arguments`, `tool-images`
 */
export type {
  ContentPart,
  ExecutedProviderTool,
  FinishReason,
  Provider,
  ProviderErrorCode,
  ProviderFactory,
  ProviderMessage,
  ProviderRequest,
  ProviderResponse,
  ProviderStreamChunk,
  ProviderTool,
  ProviderToolCall,
  ProviderUsage,
  ReasoningRequest,
} from '../core/message/provider.ts';
export { ProviderError } from '../core/message/provider.ts';
export type {
  ProviderConfigSlot,
  ProviderFactoryConfig,
  ProviderImage,
  ProviderModelCapabilities,
  ProviderOwnTool,
  ReasoningDetail,
  SafeParseResult,
} from '../core/message/provider-terms.ts';
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
