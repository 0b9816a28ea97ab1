/** Provider factories, model capabilities, and parts of answers besides text and calls (definitions §5.1, §5.3). */

/** Passed to a factory, together with the settings that it declares in `configSlots`. */
export interface ProviderFactoryConfig {
  /** Empty if none is known. */
  readonly apiKey: string;
  readonly baseUrl?: string;
  /** Milliseconds for one request, from the model's `timeouts`. */
  readonly timeout?: number;
  readonly [slot: string]: unknown;
}

/** A setting that a factory declares. */
export interface ProviderConfigSlot {
  /** A `secret` is removed from all output of the provider; a `number` is parsed as one. */
  readonly type?: string;
  readonly required?: boolean;
  readonly default?: unknown;
  /** The variable that holds it. Default: the names of the factory and of the setting, as in `HOUSE_API_KEY`. */
  readonly defaultEnv?: string;
  readonly description?: string;
}

export type SafeParseResult =
  | { success: true; data: unknown }
  | { success: false; error: { issues: readonly { path: readonly PropertyKey[]; message: string }[] } };

/** Capabilities, with the fields of a model's definition (definitions §4). */
export interface ProviderModelCapabilities {
  readonly reasoningLevels?: Readonly<Record<number, string | null>>;
  readonly supportsImages?: boolean;
  readonly supportsToolCalls?: boolean;
  readonly supportsStreaming?: boolean;
  readonly supportsJsonMode?: boolean;
  readonly maxContextTokens?: number;
  readonly maxOutputTokens?: number;
}

/** The part of a `defineTool` result that is read here. */
export interface ProviderOwnTool {
  readonly description?: string;
  /** A zod object. */
  readonly args?: unknown;
  /** JSON schema, outranked by `args`. */
  readonly parameters?: Readonly<Record<string, unknown>>;
}

/** A part of a model's reasoning, in the provider's own form: stored, and sent again if a prompt requests it. */
export interface ReasoningDetail {
  readonly type: 'summary' | 'encrypted' | 'text';
  readonly id?: string;
  readonly text?: string;
  readonly data?: string;
  readonly format?: string;
}

/** An image that the model made: becomes an attachment of its answer. */
export interface ProviderImage {
  readonly id?: string;
  /** The provider's tool that made it. */
  readonly toolName?: string;
  /** Base64. */
  readonly data: string;
  readonly mediaType: string;
  /** The prompt that was drawn, if the provider has revised it. */
  readonly revisedPrompt?: string;
}

export interface ProviderUsage {
  /** With the tokens that were read from a cache, and those that were written to one. */
  readonly promptTokens: number;
  /** With the tokens of the reasoning. */
  readonly completionTokens: number;
  readonly totalTokens: number;
  readonly reasoningTokens?: number;
  /** The part of `promptTokens` that was read from a cache. */
  readonly cachedTokens?: number;
  /** The part of `promptTokens` that was written to a cache. */
  readonly cacheWriteTokens?: number;
  /** The part of `cacheWriteTokens` that is kept for an hour. */
  readonly cacheWrite1hTokens?: number;
  /** USD, if the provider reports it; 0 counts as not reported, unless there are no tokens either. */
  readonly cost?: number;
  /** Everthread's own: the provider did not report the tokens, so they are estimated from the texts. */
  readonly estimated?: true;
}

/** A provider's refusal of a request for its length. The numbers are those that it names. */
export interface LengthRefusal {
  readonly unit: 'tokens' | 'bytes';
  readonly limit?: number;
  /** What the request would have taken. */
  readonly requested?: number;
  /** `both`: the numbers include the tokens that the answer may have (`maxOutputTokens`). Default: `input`. */
  readonly covers?: 'input' | 'both';
  /** True if they are tokens of a minute, not of the model's window. */
  readonly ofMinute?: boolean;
}

export interface ProviderToolCall {
  readonly id: string;
  readonly name: string;
  /** Parsed arguments; a backend that got malformed JSON gives `{}` here and the text in `rawArguments`. */
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly rawArguments?: string;
  /** Data that the provider needs back with the call in later requests; JSON. */
  readonly extraContent?: unknown;
}
