/**
 * The provider port (definitions §5): what a model backend looks like to the runtime.
 * Types alone; backends live in `models`. `specificationVersion` is '1'.
 */

export interface ProviderFactoryConfig {
  readonly apiKey: string;
  readonly baseUrl?: string;
  /** Milliseconds for one request. */
  readonly timeout?: number;
}

/** Makes a provider. `providerOptions`, when there, is a zod schema for a model's own options. */
export interface ProviderFactory {
  (config: ProviderFactoryConfig): Provider;
  readonly providerOptions?: { safeParse(value: unknown): SafeParseResult };
}

export type SafeParseResult =
  | { success: true; data: unknown }
  | { success: false; error: { issues: readonly { path: readonly PropertyKey[]; message: string }[] } };

export interface Provider {
  readonly name: string;
  readonly specificationVersion: '1';
  generate(request: ProviderRequest): Promise<ProviderResponse>;
  /** Rejects or yields an `error` chunk on failure; ends after `finish`. */
  stream(request: ProviderRequest): Promise<AsyncIterable<ProviderStreamChunk>>;
  supportsModel?(modelId: string): boolean;
}

export interface ProviderRequest {
  readonly model: string;
  readonly messages: readonly ProviderMessage[];
  readonly tools?: readonly ProviderTool[];
  readonly toolChoice?: 'auto' | 'none' | 'required' | { readonly name: string };
  readonly parallelToolCalls?: boolean;
  readonly maxOutputTokens?: number;
  readonly temperature?: number;
  readonly topP?: number;
  readonly topK?: number;
  readonly stopSequences?: readonly string[];
  readonly reasoning?: ReasoningRequest;
  readonly responseFormat?: unknown;
  readonly providerOptions?: Readonly<Record<string, unknown>>;
  /** Stable id of the end user or thread, for sticky routing. */
  readonly user?: string;
  readonly signal?: AbortSignal;
}

export interface ReasoningRequest {
  /** 0 to 100. */
  readonly level?: number;
  /** The provider's own word for the level, as the model's `reasoningLevels` has it; null turns reasoning off. */
  readonly effort?: string | null;
  readonly maxTokens?: number;
  /** Reasoning is not to be returned. */
  readonly exclude?: boolean;
}

export type ProviderMessage =
  | { readonly role: 'system'; readonly content: string }
  | { readonly role: 'user'; readonly content: string | readonly ContentPart[] }
  | {
      readonly role: 'assistant';
      readonly content: string | null;
      readonly toolCalls?: readonly ProviderToolCall[];
      readonly reasoning?: string;
    }
  | {
      readonly role: 'tool';
      readonly toolCallId: string;
      readonly toolName: string;
      readonly content: string | { type: 'text'; text: string } | { type: 'error'; error: string };
      /** Images that the result brought. */
      readonly attachments?: readonly ContentPart[];
    };

export type ContentPart =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'image'; readonly data: string; readonly mediaType: string; readonly detail?: string }
  | { readonly type: 'image_url'; readonly image_url: { readonly url: string } }
  | {
      readonly type: 'file';
      readonly data: string;
      readonly mediaType: string;
      readonly filename?: string;
    };

export interface ProviderToolCall {
  readonly id: string;
  readonly name: string;
  /** Parsed arguments; a backend that got malformed JSON gives `{}` here and the text in `rawArguments`. */
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly rawArguments?: string;
}

export interface ProviderTool {
  readonly type: 'function';
  readonly function: {
    readonly name: string;
    readonly description: string;
    /** JSON schema. */
    readonly parameters: Readonly<Record<string, unknown>>;
  };
  /** `provider`: the provider runs it; its name is then the provider's own, such as `anthropic.web_search_20250305`. */
  readonly executionMode?: 'local' | 'provider';
  /** Which provider runs it; any where absent. */
  readonly executionProvider?: string;
  /** Settings of a tool that the provider runs. */
  readonly options?: Readonly<Record<string, unknown>>;
}

/** A tool that the provider has run itself, within its answer. */
export interface ExecutedProviderTool {
  readonly id: string;
  readonly name: string;
  readonly type: string;
  readonly provider: string;
  readonly status: 'completed' | 'failed' | 'in_progress';
  readonly input?: unknown;
  readonly result?: unknown;
}

export type FinishReason = 'stop' | 'tool_calls' | 'length' | 'content_filter' | 'error';

export interface ProviderUsage {
  readonly promptTokens: number;
  readonly completionTokens: number;
  readonly totalTokens: number;
  readonly reasoningTokens?: number;
  readonly cachedTokens?: number;
  /** USD, when the provider says it. */
  readonly cost?: number;
}

export interface ProviderResponse {
  readonly content: string | null;
  readonly reasoning?: string | null;
  readonly toolCalls?: readonly ProviderToolCall[];
  readonly providerTools?: readonly ExecutedProviderTool[];
  readonly finishReason: FinishReason;
  readonly usage: ProviderUsage;
  readonly responseId?: string;
}

export type ProviderStreamChunk =
  | { readonly type: 'content-delta'; readonly delta: string }
  | { readonly type: 'content-done' }
  | { readonly type: 'reasoning-delta'; readonly delta: string }
  | { readonly type: 'reasoning-done' }
  | { readonly type: 'tool-call-start'; readonly id: string; readonly name: string }
  | { readonly type: 'tool-call-delta'; readonly id: string; readonly argumentsDelta: string }
  /** `arguments` is the complete JSON text. */
  | {
      readonly type: 'tool-call-done';
      readonly id: string;
      readonly name: string;
      readonly arguments: string;
    }
  | { readonly type: 'provider-tool-done'; readonly tool: ExecutedProviderTool }
  | {
      readonly type: 'finish';
      readonly finishReason: FinishReason;
      readonly usage: ProviderUsage;
      readonly responseId?: string;
    }
  | { readonly type: 'error'; readonly error: string; readonly code?: ProviderErrorCode };

export type ProviderErrorCode =
  | 'rate_limit'
  | 'auth_error'
  | 'invalid_request'
  | 'server_error'
  | 'timeout'
  | 'unknown'
  /** Our own code: the answer exceeded a limit of docs/operations.md. The same model is not asked again, a fallback is. */
  | 'AnswerTooLarge';

/**
 * The failure of one request. `retryAfter` is in seconds. Recognised by `name` and `code`, not by class.
 * @example
 * ```ts
 * throw new ProviderError('Too many requests.', 'rate_limit', 429, 20); // try again in 20 seconds
 * ```
 */
export class ProviderError extends Error {
  override readonly name = 'ProviderError';
  readonly code: ProviderErrorCode;
  readonly statusCode: number | undefined;
  readonly retryAfter: number | undefined;

  constructor(
    message: string,
    code: ProviderErrorCode,
    statusCode?: number,
    retryAfter?: number,
    options?: { cause?: unknown },
  ) {
    super(message, options);
    this.code = code;
    this.statusCode = statusCode;
    this.retryAfter = retryAfter;
  }
}
