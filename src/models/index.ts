/**
 * The entry `everthread/models`: backends for `defineModel`, and the provider port for those who write their own. The folder:
 *
 *   calling     `call-model` runs a step's attempts as `attempt-plan` decides; `attempt` makes one: `provider-config`
 *               finds its provider's settings, `open-provider` creates the provider, `answer-reader` reads its
 *               answer: `read-chunk` parses it, `answer-meter` measures it and `accumulate` assembles it;
 *               `stall-guard` keeps the deadlines, `feedback` reports a late answer; `leave-out` leaves out what a
 *               provider refused, as `refused-tool` and `refused-metadata` (`running-turn`) find it
 *   waiting     `admission` asks the `rate-limiter`, by default `memory-limiter`, before each attempt
 *   failing     `classify` turns anything a backend throws into one ProviderError, `answer-failure` has the errors
 *               about an answer itself; `redact` removes keys from a text; `answer-header` reads headers, `refusal` what a
 *               provider means by a refusal, and `refusal-plan` decides what follows it
 *   backends    `openai-compatible` (`openai-request`, `openai-response`: `openai-message` reads a message or a piece of
 *               one, `streamed-calls` joins its calls, `stream-end` knows `[DONE]`) and `ai-sdk` (`ai-sdk-model`,
 *               `ai-sdk-request`, `ai-sdk-response`; `ai-sdk-parts`, `ai-sdk-assistant` and `ai-sdk-thinking` for what
 *               providers need back)
 *   no backend  `own-answer`: answers that are computed in this process, at no cost
 *   for both    `bounded-fetch`, `plausible`, `finish-reason`, `call-id`, `reasoning-effort`, `tool-arguments`, `tool-images`
 */

export type { AnswerPart, AnswerParts } from '../core/message/answer-parts.ts';
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
  ProviderUsage,
  ReasoningRequest,
} from '../core/message/provider.ts';
export { ProviderError } from '../core/message/provider.ts';
export type {
  LengthRefusal,
  ProviderConfigSlot,
  ProviderFactoryConfig,
  ProviderImage,
  ProviderModelCapabilities,
  ProviderOwnTool,
  ProviderToolCall,
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
