/** What a factory of providers is given, what a provider tells of its models, and what its answers bring beside text and calls (definitions §5.1, §5.3). */

/** What a factory is given; besides these the settings that it asks for in `configSlots`. */
export interface ProviderFactoryConfig {
  /** Empty where none is known. */
  readonly apiKey: string;
  readonly baseUrl?: string;
  /** Milliseconds for one request, as the model's `timeouts` have it. */
  readonly timeout?: number;
  readonly [slot: string]: unknown;
}

/** A setting that a factory asks for. */
export interface ProviderConfigSlot {
  /** A `secret` is taken out of whatever the provider says; a `number` is read as one. */
  readonly type?: string;
  readonly required?: boolean;
  readonly default?: unknown;
  /** The variable with its value. Default: the names of the factory and of the setting, as in `HOUSE_API_KEY`. */
  readonly defaultEnv?: string;
  readonly description?: string;
}

export type SafeParseResult =
  | { success: true; data: unknown }
  | { success: false; error: { issues: readonly { path: readonly PropertyKey[]; message: string }[] } };

/** As a model's definition has them (definitions §4). */
export interface ProviderModelCapabilities {
  readonly reasoningLevels?: Readonly<Record<number, string | null>>;
  readonly supportsImages?: boolean;
  readonly supportsToolCalls?: boolean;
  readonly supportsStreaming?: boolean;
  readonly supportsJsonMode?: boolean;
  readonly maxContextTokens?: number;
  readonly maxOutputTokens?: number;
}

/** What `defineTool` makes, as far as it is read here. */
export interface ProviderOwnTool {
  readonly description?: string;
  /** A zod object. */
  readonly args?: unknown;
  /** JSON schema, outranked by `args`. */
  readonly parameters?: Readonly<Record<string, unknown>>;
}

/** A part of what a model thought, in the provider's own form: kept, and sent again where a prompt asks for it. */
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
  /** What was drawn, where the provider has rewritten the wish. */
  readonly revisedPrompt?: string;
}
