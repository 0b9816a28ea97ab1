/** What authors pass to `defineModel` (definitions §4). Types alone; `define-model.ts` checks them. */
import type { ProviderFactory } from '../core/message/provider.ts';

export interface ModelInput {
  /** The name that prompts use; best named after its purpose, such as `fast` or `vision`. */
  name: string;
  /** Makes the backend: a factory of `everthread/models` or your own. */
  provider: ProviderFactory;
  /** The provider's own id of the model. */
  model: string;
  /** Names of other models, tried in this order when this one fails; default none. */
  fallbacks?: readonly string[];
  /** For providers that route to others: which of them may answer. Default any. */
  includedProviders?: readonly string[];
  /** USD per 1,000,000 prompt tokens, 0 or more. */
  inputPrice?: number;
  /** USD per 1,000,000 answer tokens, 0 or more. */
  outputPrice?: number;
  /** USD per 1,000,000 prompt tokens that were read from a cache, 0 or more; default `inputPrice`. */
  cachedPrice?: number;
  /** USD per 1,000,000 prompt tokens that were written to a cache, 0 or more; default 1.25 times `inputPrice`. */
  cacheWritePrice?: number;
  /** The same for tokens that the cache keeps for an hour; default twice `inputPrice`. */
  cacheWrite1hPrice?: number;
  /** What the model can do. Unset capabilities count as present. */
  capabilities?: ModelCapabilitiesInput;
  /** Options for the provider, checked with the provider's own schema when it has one; default none. */
  providerOptions?: Readonly<Record<string, unknown>>;
  /** Names of tools that the provider itself runs; default none. */
  providerTools?: readonly string[];
  /** Timeouts of its requests. All requests for one answer end within `totalSeconds` plus `plainSeconds`. */
  timeouts?: ModelTimeoutsInput;
  /**
   * Requests to it that one worker makes at once, 1 or more; others wait in line. Default: as many as its provider accepts.
   */
  concurrency?: number;
}

/** Seconds; each above 0 and at most 86,400 (a day). */
export interface ModelTimeoutsInput {
  /** From the request to the first chunk of a stream; default 120. */
  firstChunkSeconds?: number;
  /** Between two chunks; default 60. */
  idleSeconds?: number;
  /** From the request to the end of a stream, however steadily it arrives; default 600. */
  totalSeconds?: number;
  /**
   * From the request to a whole answer that is not streamed, because the model does not stream or a stream has failed;
   * default 600.
   */
  plainSeconds?: number;
  /** From the request until readers are notified that no answer has begun; default 8. */
  feedbackSeconds?: number;
}

export interface ModelCapabilitiesInput {
  /** Maps levels from 0 to 100 to the provider's own words; null means off. */
  reasoningLevels?: Readonly<Record<number, string | null>>;
  supportsImages?: boolean;
  /** When false, no tools are sent. */
  supportsToolCalls?: boolean;
  supportsStreaming?: boolean;
  supportsJsonMode?: boolean;
  /** Tokens. */
  maxContextTokens?: number;
  /** Tokens. */
  maxOutputTokens?: number;
  /** @deprecated The old name of `supportsImages`. */
  vision?: boolean;
  /** @deprecated The old name of `supportsToolCalls`. */
  functionCalling?: boolean;
  /** @deprecated The old name of `supportsJsonMode`. */
  structuredOutputs?: boolean;
}
